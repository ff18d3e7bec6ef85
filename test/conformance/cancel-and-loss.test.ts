import { describe, expect, it } from "vitest";
import { Engine } from "../../src/run/engine/engine.js";
import type { Ended } from "../../src/run/worker.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, flush, trial, workflow } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { freePlaces, ScriptedWorker } from "../support/scripted-worker.js";
import { trace } from "../support/trace.js";

const lost = { facts: { lost: true, message: "gone" } } as const;

function cancelAt(turn: number) {
  return {
    onTurn: (engine: Engine, runId: number, at: number) => {
      if (at === turn) engine.post(runId, { type: "run.cancel", reason: "enough", key: null });
    },
  };
}

describe("cancel", () => {
  it("ends what runs, drops what waits, and the run is canceled when the last has gone", async () => {
    const run = await trial(
      `steps:
  slow: { exec: make }
  waiting: { exec: make, on_fail: { retry: { max: 3, backoff: { delay_ms: 1000 } } } }
  after: { exec: make, depends_on: slow }`,
      { slow: [{ output: null, takesMs: 100 }], waiting: ["fail"] },
      cancelAt(0),
    );
    expect(trace(run)).toEqual([
      "start slow",
      "start waiting",
      "fail waiting EXIT_1",
      "climb waiting retry",
      "retry waiting 1/3 +1000",
      "abandoned root canceled",
      "stopped slow canceled",
      "run canceled",
    ]);
    expect(run.jobs.map(({ status }) => status)).toEqual(["canceled", "canceled", "canceled"]);
    expect(run.run).toMatchObject({ status: "canceled", error: { code: "RUN_CANCELED", message: "enough" } });
  });

  it("during a remediation ends it and its source, and nothing climbs on", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [fix], goto: setup } }
  fix: { exec: make, on_fail: { retry: { max: 3 } } }`,
      { build: ["fail"], fix: [{ exit: 1, takesMs: 100 }] },
      cancelAt(0),
    );
    expect(run.order).toEqual(["setup", "build", "fix"]);
    expect(run.job("build").status).toBe("canceled");
    expect(run.job("fix").status).toBe("canceled");
    expect(run.run.status).toBe("canceled");
  });

  it("fail_fast records the failure of a step that fails while it is ended, and routes nothing", async () => {
    const run = await trial(
      `failure_policy: fail_fast
steps:
  bad: { exec: make }
  slow: { exec: make, on_fail: { retry: { max: 3 } } }
  fix: { exec: make }
transitions: [{ from: slow, to: fix, on: failure }]`,
      { bad: [{ exit: 1, takesMs: 10 }], slow: [{ output: null, takesMs: 100, endsWith: 7 }] },
    );
    expect(trace(run)).toEqual([
      "start bad",
      "start slow",
      "fail bad EXIT_1",
      "climb bad fail",
      "failed bad EXIT_1",
      "abandoned root fail_fast",
      "fail slow EXIT_7",
      "climb slow stop",
      "canceled slow FAIL_FAST",
      "run failed EXIT_1",
    ]);
    expect(run.events("ladder.climbed").at(-1)!.failure_route).toMatchObject({ status: "skipped_terminal" });
  });

  it("while a barrier is open", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  bad: { exec: make, depends_on: setup, on_fail: { goto_js: "return 'setup'" } }
  slow: { exec: make, depends_on: setup }`,
      { bad: [{ exit: 1, takesMs: 10 }], slow: [{ output: null, takesMs: 100 }] },
      cancelAt(1),
    );
    expect(run.run.status).toBe("canceled");
    expect(run.jobs.every(({ status }) => status === "completed" || status === "canceled")).toBe(true);
  });

  it("a failure that arrives after the cancel is recorded and climbs no further than stop", async () => {
    const clock = new ManualClock();
    const store = createMemoryStore();
    const stubborn = {
      ...freePlaces("stubborn"),
      endLeftovers: () => Promise.resolve(),
      close: () => Promise.resolve(),
      execute: (_: unknown, _place: unknown, signal: AbortSignal, ended: Ended) =>
        signal.addEventListener("abort", () =>
          ended({ kind: "failed", facts: { message: "exit code 1", exitCode: 1 }, duration_ms: 5 }),
        ),
    };
    const engine = new Engine({ ...enginePorts(store, clock), worker: stubborn, sandbox: plainSandbox });
    const { runId, ended: over } = await engine.start(
      workflow(`steps: { build: { exec: make, on_fail: { retry: { max: 3 } } } }`),
    );
    await flush();
    engine.post(runId, { type: "run.cancel", reason: "enough", key: null });
    const run = await over;
    const log = (await store.readEvents(runId)).map(({ event }) => event);
    expect(log.filter((event) => event.type === "attempt.failed")).toHaveLength(1);
    expect(log.filter((event) => event.type === "ladder.climbed")).toMatchObject([
      {
        rung: "stop",
        considered: [{ rung: "stop", applied: true, kind: "applies", reason: "the run is canceled" }],
      },
    ]);
    expect(run.status).toBe("canceled");
  });

  it("twice is once", async () => {
    const run = await trial(
      `steps: { slow: { exec: make } }`,
      { slow: [{ output: null, takesMs: 100 }] },
      {
        onTurn: (engine, runId) => {
          engine.post(runId, { type: "run.cancel", reason: "a", key: null });
          engine.post(runId, { type: "run.cancel", reason: "b", key: null });
        },
      },
    );
    expect(run.events("run.cancel_requested")).toMatchObject([{ reason: "a" }]);
    expect(run.events("run.canceled")).toHaveLength(1);
  });
});

describe("a lost worker", () => {
  it("is replaced at once at no cost to retries or loops, and invisible to _last_error", async () => {
    const run = await trial(
      `routing: { max_loops: 1 }
steps: { build: { exec: make, on_fail: { retry: { max: 1, backoff: { delay_ms: 100 } } }, on_success: { run_js: "return loop === 1 && state._last_error === null ? ['note'] : []" } }, note: { exec: make, start: routed } }`,
      { build: [lost, lost, "fail", "ok"] },
    );
    expect(run.order).toEqual(["build", "build", "build", "build", "note"]);
    expect(run.times).toEqual([0, 0, 0, 100, 100]);
    expect(trace(run).filter((line) => line.startsWith("restart"))).toEqual([
      "restart build 1/5",
      "restart build 2/5",
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("beyond max_recoveries of the visit the failure climbs on as an ordinary one", async () => {
    const run = await trial(
      `max_recoveries: 2
steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto: setup } }`,
      { build: [lost, lost, lost, lost, "ok"] },
    );
    expect(run.order).toEqual(["setup", "build", "build", "build", "setup", "build", "build"]);
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual([
      "restart",
      "restart",
      "goto",
      "restart",
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("for ever lost ends in WORKER_LOST", async () => {
    const run = await trial(`max_recoveries: 1\nsteps: { build: { exec: make } }`, { build: [lost] });
    expect(run.order).toEqual(["build", "build"]);
    expect(run.run.error?.code).toBe("WORKER_LOST");
  });
});

describe("a command that its run's owner never took", () => {
  it("is taken before the resumed run starts anything", async () => {
    const store = createMemoryStore();
    const clock = new ManualClock();
    const worker = new ScriptedWorker(clock, { a: [{ output: null, takesMs: 1000 }] });
    const first = new Engine({ ...enginePorts(store, clock, "first"), worker, sandbox: plainSandbox });
    const { runId } = await first.start(
      workflow(`steps: { a: { exec: make }, b: { exec: make, depends_on: a } }`),
    );
    await flush();
    const command = JSON.stringify({ type: "run.cancel", reason: "enough", key: "k" });
    const id = await store.sendCommand({ runId, key: "k", command, at: clock.now() });
    const answer = JSON.stringify({ type: "human.answer", job: 1, choice: "approve", text: "", key: "h" });
    const refused = await store.sendCommand({ runId, key: "h", command: answer, at: clock.now() });
    const broken = await store.sendCommand({ runId, key: "x", command: "{", at: clock.now() });
    const idle = new ScriptedWorker(clock, {});
    const second = new Engine({
      ...enginePorts(store, clock, "second"),
      worker: idle,
      sandbox: plainSandbox,
      isDead: () => true,
    });
    const run = await (await second.resume(runId)).ended;
    expect(idle.order).toEqual([]);
    expect(run.status).toBe("canceled");
    expect(JSON.parse((await store.readAnswer(id))!)).toMatchObject({ refusal: null });
    expect(JSON.parse((await store.readAnswer(refused))!)).toMatchObject({
      refusal: { code: "STEP_NOT_FOUND" },
    });
    expect(JSON.parse((await store.readAnswer(broken))!)).toMatchObject({ refusal: { code: "USAGE" } });
  });
});
