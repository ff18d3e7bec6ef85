import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { trial, workflow } from "../../../test/support/harness.js";
import { evolve } from "../../core/evolve/evolve.js";
import type { LoggedEvent } from "../../core/model/events.js";
import { newRun } from "../../core/model/make-run.js";
import type { Run } from "../../core/model/run.js";
import { Meter } from "./measure.js";
import { SERIES } from "./measurement.js";
import { type Span, SpanMaker } from "./otlp.js";
import { openTelemetry, Telemetry } from "./telemetry.js";

const FLAKY = `name: flaky
steps:
  build: { exec: make, on_fail: { retry: { max: 2 } } }
  slow: { exec: make, on_fail: { retry: { max: 1 } } }`;

async function flakyLog(): Promise<readonly LoggedEvent[]> {
  const run = await trial(FLAKY, {
    build: ["fail", "ok"],
    slow: [
      { facts: { timeout: "idle", message: "silent" } },
      { facts: { timeout: "wall", message: "too long" }, takesMs: 2_500 },
    ],
  });
  return run.log;
}

function replay(
  log: readonly LoggedEvent[],
  take: (run: Run, event: LoggedEvent) => void,
  text = FLAKY,
): void {
  const [first] = log;
  if (first?.event.type !== "run.created") throw new Error("a log begins with run.created");
  const run = newRun(1, workflow(text).definition, first.event, first.at);
  for (const logged of log) {
    evolve(run, logged.event, logged.at);
    take(run, logged);
  }
}

function counted(log: readonly LoggedEvent[]): string[] {
  const meter = new Meter();
  return log
    .flatMap(({ event }) => meter.measure(1, event))
    .filter(({ name }) => SERIES[name].kind === "counter" && name.startsWith("task."))
    .map(({ name, labels }) => [name, ...Object.values(labels)].join(" "))
    .sort();
}

describe("measurements", () => {
  it("count repeated attempts by class, strategy and outcome, and both kinds of timeout", {
    tags: ["M32", "M33"],
  }, async () => {
    expect(counted(await flakyLog())).toEqual([
      "task.self_heal.attempts_total soft_reset application succeeded",
      "task.self_heal.attempts_total soft_reset transient_runtime failed",
      "task.self_heal.exhausted_total",
      "task.self_heal.recovered_total",
      "task.step.idle_timeout_total",
      "task.step.wall_timeout_total",
    ]);
  });

  it("count hard resets, requeues and failures without progress by their strategy", {
    tags: ["M32", "M33"],
  }, async () => {
    const same = { exit: 1, stderr: "no", diffHash: "d" };
    const { log } = await trial(
      `name: stuck
workspace: { repo: . }
self_heal: { step_max_attempts: 3 }
queue: { max_attempts: 2, backoff: { mode: none } }
steps: { edit: { exec: edit } }`,
      { edit: [same] },
    );
    expect(counted(log)).toEqual([
      "task.self_heal.attempts_total hard_reset stuck_no_progress failed",
      "task.self_heal.attempts_total requeue stuck_no_progress failed",
      "task.self_heal.attempts_total soft_reset application failed",
      "task.self_heal.attempts_total soft_reset application failed",
      "task.self_heal.exhausted_total",
      "task.step.no_progress_total",
      "task.step.no_progress_total",
      "task.step.no_progress_total",
    ]);
    const meter = new Meter();
    const names = log.flatMap(({ event }) => meter.measure(1, event)).map(({ name }) => name);
    expect(names.filter((name) => name === "daruma.dead_letters_total")).toHaveLength(1);
  });

  it("carry only the labels that their series declares, none with a name of the user's", async () => {
    const meter = new Meter();
    for (const { event } of await flakyLog()) {
      for (const { name, labels } of meter.measure(1, event)) {
        expect(Object.keys(labels).sort()).toEqual([...SERIES[name].labels].sort());
        expect(Object.values(labels)).not.toContain("build");
        expect(Object.values(labels)).not.toContain("flaky");
      }
    }
  });

  it("stand in the text of Prometheus with type, help, labels and buckets", async () => {
    const telemetry = new Telemetry(null, null);
    replay(await flakyLog(), (run, logged) => telemetry.take(run, [logged]));
    telemetry.registry.addGauge({
      name: "daruma_workers",
      help: "Workers.",
      read: () => [{ labels: { state: 'a"b\\c\nd' }, value: 2 }],
    });
    const text = telemetry.registry.text();
    expect(text).toContain("# TYPE task_step_duration_seconds histogram\n");
    expect(text).toContain('task_step_duration_seconds_count{outcome="failed"} 3\n');
    expect(text).toMatch(/task_step_duration_seconds_bucket\{outcome="failed",le="\+Inf"\} 3\n/);
    expect(text).toContain('daruma_runs_total{status="failed"} 1\n');
    expect(text).toContain("task_step_idle_timeout_total 1\n");
    expect(text).toContain("task_step_no_progress_total 0\n");
    expect(text).toContain('daruma_workers{state="a\\"b\\\\c\\nd"} 2\n');
  });
});

describe("StatsD", () => {
  it("gets every measurement by UDP with the names and tags of the catalogue", {
    tags: ["M32", "M33"],
  }, async () => {
    const socket = createSocket("udp4");
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    const lines: string[] = [];
    const all = new Promise<void>((resolve) =>
      socket.on("message", (datagram) => {
        lines.push(...datagram.toString().split("\n"));
        if (lines.some((line) => line.startsWith("daruma.runs_total"))) resolve();
      }),
    );
    const telemetry = openTelemetry({ DARUMA_STATSD: `127.0.0.1:${socket.address().port}` });
    replay(await flakyLog(), (run, logged) => telemetry.take(run, [logged]));
    await telemetry.close();
    await all;
    socket.close();
    expect(lines).toContain(
      "task.self_heal.attempts_total:1|c|#strategy:soft_reset,class:application,outcome:succeeded",
    );
    for (const name of [
      "self_heal.recovered",
      "self_heal.exhausted",
      "step.idle_timeout",
      "step.wall_timeout",
    ])
      expect(lines.filter((line) => line === `task.${name}_total:1|c`)).toHaveLength(1);
    const durations = lines.filter((line) => line.startsWith("task.step.duration_seconds:"));
    expect(durations.map((line) => line.split(":").slice(1).join(":"))).toEqual([
      ...["0|h|#outcome:failed", "0|h|#outcome:failed", "0|h|#outcome:succeeded", "2.5|h|#outcome:failed"],
    ]);
  });

  it("refuses an address that is none, saying how one looks", () => {
    expect(() => openTelemetry({ DARUMA_STATSD: "nowhere:port" })).toThrow("DARUMA_STATSD=nowhere:port");
  });
});

interface SentSpan {
  traceId: string;
  spanId: string;
  parentSpanId?: string;
  name: string;
  status: { code: number; message?: string };
}

describe("traces", () => {
  it("reach the collector as run > job > attempt of one trace, and again after an outage", async () => {
    const spans: SentSpan[] = [];
    const headers: (string | undefined)[] = [];
    let outages = 1;
    const collector = createServer((request, response) => {
      let body = "";
      request.on("data", (chunk) => {
        body += chunk;
      });
      request.on("end", () => {
        headers.push(request.headers.authorization);
        if (outages-- > 0) return response.writeHead(503).end();
        spans.push(...JSON.parse(body).resourceSpans[0].scopeSpans[0].spans);
        response.writeHead(200).end("{}");
      });
    });
    collector.listen(0, "127.0.0.1");
    await once(collector, "listening");
    const telemetry = openTelemetry({
      OTEL_EXPORTER_OTLP_ENDPOINT: `http://127.0.0.1:${(collector.address() as AddressInfo).port}/`,
      OTEL_EXPORTER_OTLP_HEADERS: "authorization=Bearer%20x",
    });
    replay(await flakyLog(), (run, logged) => telemetry.take(run, [logged]));
    await telemetry.close();
    expect(spans).toEqual([]);
    await telemetry.close();
    collector.close();
    const tree = spans.map(({ name, parentSpanId, status }) => ({
      name,
      in: spans.find(({ spanId }) => spanId === parentSpanId)?.name ?? null,
      failure: status.message ?? null,
    }));
    expect(new Set(spans.map(({ traceId }) => traceId)).size).toBe(1);
    expect(tree).toEqual([
      { name: "build attempt 1", in: "build", failure: "EXIT_1" },
      { name: "slow attempt 1", in: "slow", failure: "IDLE_TIMEOUT" },
      { name: "build attempt 2", in: "build", failure: null },
      { name: "build", in: "flaky", failure: null },
      { name: "slow attempt 2", in: "slow", failure: "TIMEOUT" },
      { name: "slow", in: "flaky", failure: "TIMEOUT" },
      { name: "flaky", in: null, failure: expect.any(String) },
    ]);
    expect(headers).toEqual(["Bearer x", "Bearer x"]);
  });
});

describe("the span of a job", () => {
  it("begins with its first attempt, also where another process has made that", async () => {
    const text =
      "name: waits\nsteps: { a: { exec: make, on_fail: { retry: { max: 1, backoff: { delay_ms: 500 } } } } }";
    const { log } = await trial(text, { a: ["fail", "ok"] });
    const seen = log.findIndex(({ event }) => event.type === "attempt.failed") + 1;
    const maker = new SpanMaker();
    maker.recall(log.slice(0, seen));
    const spans: Span[] = [];
    const take = (run: Run, logged: LoggedEvent): void => {
      if (log.indexOf(logged) >= seen) spans.push(...maker.spansOf(run, logged));
    };
    replay(log, take, text);
    const [first, second] = log.filter(({ event }) => event.type === "attempt.started");
    expect(second!.at - first!.at).toBe(500);
    expect(spans.map(({ name, startAt }) => [name, startAt])).toEqual([
      ["a attempt 2", second!.at],
      ["a", first!.at],
      ["waits", first!.at],
    ]);
  });
});
