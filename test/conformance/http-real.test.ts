import { readFileSync } from "node:fs";
import { createServer, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { createHttpAction } from "../../src/run/action/http.js";
import { Engine } from "../../src/run/engine/engine.js";
import { LocalWorker } from "../../src/run/worker/local-worker.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, flush, workflow } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { filesIn, RealRuns } from "../support/real-run.js";

const real = new RealRuns();
const servers: Server[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) {
    server.closeAllConnections();
    server.close();
  }
});

/** A server on 127.0.0.1 that answers the nth request as it is told. */
async function serve(answer: (response: ServerResponse, nth: number) => void): Promise<string> {
  let count = 0;
  const server = createServer((_, response) => {
    count += 1;
    answer(response, count);
  });
  servers.push(server);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
}

describe("HTTP steps with a real server", () => {
  it("a request that would take 10 s is aborted after 5 s with TIMEOUT, and retried", {
    tags: ["W7", "W15", "W23", "W25"],
  }, async () => {
    const asked: { wake: () => void } = { wake: () => {} };
    let closed = 0;
    const url = await serve((response, nth) => {
      if (nth === 2) response.end('"late but there"');
      else response.on("close", () => (closed += 1));
      asked.wake();
    });
    const clock = new ManualClock();
    const store = createMemoryStore();
    const worker = new LocalWorker({
      actions: [createHttpAction()],
      outputDir: join(real.folder, "timeout"),
      clock,
    });
    const engine = new Engine({ ...enginePorts(store, clock), worker, sandbox: plainSandbox });
    const arrived = new Promise<void>((resolve) => {
      asked.wake = resolve;
    });
    const { runId, ended } = await engine.start(
      workflow(`steps:
  call: { type: http, url: "${url}", execution: { timeout_ms: 5000, retry_policy: { max_attempts: 2, backoff: none } } }`),
    );
    await arrived;
    clock.advance(4_999);
    await flush();
    expect(closed).toBe(0);
    clock.advance(1);
    const run = await ended;
    expect(run.status).toBe("completed");
    const log = (await store.readEvents(runId)).map(({ event }) => event);
    expect(log.filter((event) => event.type === "attempt.failed")).toMatchObject([
      {
        attempt: 1,
        duration_ms: 5000,
        error: { code: "TIMEOUT", class: "transient_runtime", retryable: true, exit_code: 124 },
      },
    ]);
    expect(log.filter((event) => event.type === "attempt.succeeded")).toMatchObject([{ attempt: 2 }]);
    await engine.stop();
    await worker.close();
  });

  it.each([
    ["a command", 'exec: "sleep 600", kill_grace_ms: 100'],
    ["a script", 'type: script, content: "for (;;) {}"'],
  ])("%s is ended by execution.timeout_ms with TIMEOUT too", { tags: ["W7"] }, async (_, action) => {
    const run = await real.run(`steps: { slow: { ${action}, execution: { timeout_ms: 200 } } }`);
    expect(run.report.status).toBe("failed");
    expect((await run.events("attempt.failed")).map(({ error }) => [error.code, error.class])).toEqual([
      ["TIMEOUT", "transient_runtime"],
    ]);
  });

  it.each([
    ["seconds", "3", 3000, 3000],
    ["a date", () => new Date(Date.now() + 60_000).toUTCString(), 57_000, 60_000],
  ])(
    "Retry-After in %s is honoured, whatever max_delay_ms says",
    { tags: ["W31"] },
    async (_, after, least, most) => {
      const url = await serve((response) => {
        response
          .writeHead(429, { "retry-after": typeof after === "string" ? after : after() })
          .end("slow down");
      });
      const daruma = await real.start();
      const file = real.write(
        "limited.yaml",
        `steps: { call: { type: http, url: "${url}", on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 1, max_delay_ms: 10000 } } } } }`,
      );
      const waiting = new Promise<number>((resolve) => {
        daruma.onCommitted((_run, events) => {
          for (const { event } of events) if (event.type === "retry.scheduled") resolve(event.delay_ms);
        });
      });
      const { runId } = await daruma.start(file);
      const delayMs = await waiting;
      expect(delayMs).toBeGreaterThanOrEqual(least);
      expect(delayMs).toBeLessThanOrEqual(most);
      await daruma.cancel(runId, "seen");
    },
  );

  it("a real 400 fails at once, is not retried, and its handler sees code and message", {
    tags: ["W24", "W26"],
  }, async () => {
    let requests = 0;
    const url = await serve((response) => {
      requests += 1;
      response.writeHead(400).end("field x is missing");
    });
    const run = await real.run(`steps:
  call: { type: http, url: "${url}", on_fail: { retry: { max: 3 } } }
  handler: { type: script, content: "return failure.code + ' ' + failure.class + ' ' + failure.context.includes('field x is missing')" }
transitions: [{ from: call, to: handler, on: failure }]`);
    expect(requests).toBe(1);
    expect(run.job("handler").output).toBe("400 deterministic_contract true");
    expect(run.report.status).toBe("completed");
    expect(run.report.handled_failures).toMatchObject([{ step: "call", code: "400" }]);
  });
});

describe("secrets", () => {
  it("a planted mixed-case secret is found nowhere in database, files or output", {
    tags: ["W34"],
  }, async () => {
    const secret = "xK9-MiXed-CaSe-QrT42";
    const encoded = Buffer.from(secret).toString("base64");
    const run = await real.run(
      `secrets: [API_KEY]
failure_handlers: [{ name: h, rules: [{ match_all_exit_codes: true, recovery_script: 'echo "recovering with $API_KEY"', max_retries: 2 }] }]
steps:
  leak:
    exec: |
      echo "token=$API_KEY"; echo "Authorization: Bearer $API_KEY" >&2
      printf '{"code":"LEAKED","message":"cannot log in with %s"}' "$API_KEY" > "$DARUMA_FAILURE"
      exit 7
    failure_handler: h
    summarize: cat
  say: { exec: 'echo "[\\"$API_KEY\\"]"' }
  handler: { exec: 'cat "$DARUMA_FAILURE_CONTEXT"' }
  twice: { exec: 'echo "$API_KEY" >&2; exit 3' }
  look: { type: script, content: "return failure" }
transitions:
  - { from: leak, to: handler, on: failure, when: "error.message.includes('log in')" }
  - { from: twice, to: look, on: failure }`,
      { env: { ...process.env, API_KEY: secret } },
    );
    expect(run.report.status).toBe("completed");
    expect(run.job("handler").status).toBe("completed");
    const shown = [
      JSON.stringify(run.report),
      ...filesIn(run.outputDir).map((file) => readFileSync(file, "latin1")),
    ];
    expect(shown.length).toBeGreaterThan(12);
    for (const text of shown) {
      expect(text).not.toContain(secret);
      expect(text.toLowerCase()).not.toContain(secret.toLowerCase());
      expect(text).not.toContain(encoded);
    }
    expect(run.text("_a1.o")).toContain("token=");
    expect(run.text("_a1.recovery.o")).toContain("recovering with ");
    expect(String(run.job("handler").output)).toContain("cannot log in with ");
  });
});
