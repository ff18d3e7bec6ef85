import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PATIENCE_MS } from "../../src/run/engine/health/patience.js";
import { type Behaviour, failsAtOnce, HealthBench, works } from "../support/health-bench.js";

let bench: HealthBench;
beforeEach(() => {
  bench = new HealthBench();
});
afterEach(() => bench.close());

describe("a retry while all other workers are busy", () => {
  const AGAIN = "steps: { a: { exec: make, on_fail: { retry: { max: 3 } } } }";

  async function busyGood(ms: number) {
    const server = bench.serve();
    const good = bench.worker("good", server, () => ({ ok: true, ms }));
    await bench.start(server, "steps: { long: { exec: make } }");
    bench.worker("bad", server, failsAtOnce, { slots: 4 });
    await bench.settle();
    return { server, good };
  }

  it("waits for one of them instead of going back where it failed", { tags: ["H3"] }, async () => {
    const { server } = await busyGood(PATIENCE_MS - 1_000);
    const runId = await bench.start(server, AGAIN);
    const fresh = await bench.start(server, "steps: { b: { exec: make } }");
    await bench.pass(2 * PATIENCE_MS, 500);
    expect(await bench.attempts(runId)).toEqual(["bad failed", "good ok elsewhere"]);
    // It keeps nobody else from the room that it does not want.
    expect(await bench.attempts(fresh)).toEqual(["bad failed"]);
  });

  it("goes back after half a minute, but not to a worker whose last three jobs all failed", {
    tags: ["H3"],
  }, async () => {
    const { server } = await busyGood(10 * PATIENCE_MS);
    const runId = await bench.start(server, AGAIN);
    await bench.pass(PATIENCE_MS - 1_000, 500);
    expect(await bench.attempts(runId)).toEqual(["bad failed"]);
    await bench.pass(2_000, 500);
    expect(await bench.attempts(runId)).toEqual(["bad failed", "bad failed"]);
    await bench.start(server, "steps: { b: { exec: make }, c: { exec: make } }");
    await bench.pass(3 * PATIENCE_MS, 500);
    expect(await bench.attempts(runId)).toEqual(["bad failed", "bad failed"]);
    await bench.pass(20 * PATIENCE_MS, 5_000);
    expect(await bench.attempts(runId)).toEqual(["bad failed", "bad failed", "good ok"]);
  });

  it("goes back at once where no other worker could run it", { tags: ["H3"] }, async () => {
    const server = bench.serve();
    bench.worker("bad", server, failsAtOnce, { tags: ["gpu"] });
    bench.worker("good", server, works);
    const runId = await bench.start(server, AGAIN.replace("exec: make", "exec: make, runs_on: gpu"));
    await bench.pass(1_000);
    expect(await bench.attempts(runId)).toEqual(Array(4).fill("bad failed"));
  });
});

describe("retry.on_worker", () => {
  const failsFirst: Behaviour = ({ attempt }) => ({ ok: attempt > 1, ms: 1 });

  it.each([
    ["other", ["one failed", "two ok elsewhere"]],
    ["same", ["one failed", "one ok"]],
    ["any", ["one failed", "one ok"]],
  ] as const)("%s", { tags: ["H7"] }, async (on, expected) => {
    const server = bench.serve();
    bench.worker("one", server, failsFirst, { slots: 4 });
    bench.worker("two", server, failsFirst, { slots: 2 });
    const retry = `retry: { max: 1, on_worker: ${on} }`;
    const runId = await bench.start(server, `steps: { a: { exec: make, on_fail: { ${retry} } } }`);
    await bench.pass(1_000);
    expect(await bench.attempts(runId)).toEqual(expected);
  });

  it("same is a preference: it says so where it decided, and does not wait where there is no room", {
    tags: ["H7"],
  }, async () => {
    const server = bench.serve();
    bench.worker("one", server, failsFirst, { slots: 2 });
    const step =
      "{ exec: make, on_fail: { retry: { max: 1, on_worker: same, backoff: { mode: fixed, delay_ms: 1000 } } } }";
    const runId = await bench.start(server, `steps: { a: ${step} }`);
    await bench.pass(100);
    bench.worker("two", server, works, { slots: 8 });
    await bench.pass(2_000);
    expect(await bench.attempts(runId)).toEqual(["one failed", "one ok same"]);
    const full = bench.serve();
    const third = bench.worker("third", full, failsFirst);
    const second = await bench.start(full, `steps: { a: ${step} }`);
    await bench.pass(100);
    third.behaviour = () => ({ ok: true, ms: 60_000 });
    await bench.start(full, "steps: { b: { exec: make } }");
    bench.worker("fourth", full, works);
    await bench.pass(2_000);
    expect(await bench.attempts(second)).toEqual(["third failed", "fourth ok"]);
  });

  it("is the same after a recovery script, whatever `on_worker` says", { tags: ["H7"] }, async () => {
    const server = bench.serve();
    const behaviour: Behaviour = ({ attempt, recovery }) => ({ ok: recovery || attempt > 1, ms: 1 });
    bench.worker("one", server, behaviour, { slots: 4 });
    const runId = await bench.start(
      server,
      `
failure_handlers: [{ name: mend, rules: [{ exit_codes: [1], recovery_script: ./fix.sh, max_retries: 2 }] }]
steps: { a: { exec: make, failure_handler: mend, on_fail: { retry: { max: 0, on_worker: other } } } }`,
    );
    bench.worker("two", server, behaviour, { slots: 8 });
    await bench.pass(1_000);
    expect(await bench.attempts(runId)).toEqual(["one failed", "one ok same"]);
  });
});
