import { afterAll, describe, expect, it } from "vitest";
import { exitCodeOfStatus } from "../../src/cli/terminal/exit-codes.js";
import { loadDefinition } from "../../src/file/load.js";
import { Engine } from "../../src/run/engine/engine.js";
import { createSandbox } from "../../src/run/sandbox/quickjs-sandbox.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import { enginePorts, flush, trial, workflow } from "../support/harness.js";
import { ManualClock } from "../support/manual-clock.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import { ScriptedWorker } from "../support/scripted-worker.js";

const sandbox = createSandbox();
afterAll(() => sandbox.close());

function load(text: string) {
  return loadDefinition(text, { file: "w.yaml", checkExpression: () => null, checkTemplate: () => null });
}

describe("what other engines get wrong", () => {
  it("a goto leaves unrelated branches that are queued alone, and they run", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  x1: { exec: make }
  x2: { exec: make, depends_on: x1 }
  x3: { exec: make, depends_on: x2 }
  y1: { exec: make }`,
      { build: ["fail", "ok"] },
      { capacity: 1 },
    );
    const once = ["x1", "x2", "x3", "y1"];
    expect(run.order.filter((step) => once.includes(step)).toSorted()).toEqual(once);
    expect(once.map((step) => run.job(step).status)).toEqual(Array(4).fill("completed"));
  });

  it("retry, remediation and goto follow each other, never at once", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1, backoff: { delay_ms: 10 } }, run: [fix], goto: setup } }
  fix: { exec: make }`,
      {
        build: ["fail", "fail", "fail", "ok"],
        fix: [{ output: null, takesMs: 10 }],
        setup: ["ok", { output: null, takesMs: 10 }],
      },
    );
    expect(run.order).toEqual(["setup", "build", "build", "fix", "build", "setup", "build"]);
    expect(run.times).toEqual([0, 0, 10, 10, 20, 20, 30]);
  });

  it("a backoff is really waited for", async () => {
    const run = await trial(
      `steps: { call: { exec: make, on_fail: { retry: { max: 2, backoff: { mode: exponential, delay_ms: 1000 } } } } }`,
      { call: ["fail", "fail", "ok"] },
    );
    expect(run.times).toEqual([0, 1000, 3000]);
  });

  it("a failed run does not exit 0", async () => {
    const run = await trial(`steps: { a: { exec: make }, b: { exec: make } }`, { a: ["fail"] });
    expect(exitCodeOfStatus(run.run.status)).toBe(1);
  });

  it("retries in a forEach leave the items that had succeeded alone", async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { retry: { max: 1 } } }`,
      {
        list: [{ output: ["a", "b", "c"] }],
        work: ({ variables }, nth) =>
          (variables.foreach as { index: number }).index === 2 && nth === 1 ? "fail" : "ok",
      },
    );
    expect(run.order.toSorted()).toEqual(["list", "work[0]", "work[1]", "work[2]", "work[2]"]);
  });

  it.each([
    ["while (true) {}", "for (;;) {}"],
    ["builtins in a loop", "const s = 'x'.repeat(1e6); for (let i = 0; i < 1e9; i++) s.indexOf('y' + i);"],
  ])("%s in an expression does not hang the engine", async (_, code) => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto: setup, goto_js: "${code}" } }`,
      { build: ["fail", "ok"] },
      { sandbox },
    );
    expect(run.order).toEqual(["setup", "build", "setup", "build"]);
    expect(run.events("evaluation.finished")[0]!.result).toMatchObject({ ok: false });
  });

  it("an expression that changes its input changes nothing for the next one", async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, if: "try { outputs.a.list.push(9); outputs.a.n = 9; } catch {} return true" }
  c: { exec: make, depends_on: b, if: "outputs.a.n === 1 && outputs.a.list.length === 1" }`,
      { a: [{ output: { n: 1, list: [1] } }] },
      { sandbox },
    );
    expect(run.order).toEqual(["a", "b", "c"]);
    expect(run.job("a").output).toEqual({ kind: "value", value: { n: 1, list: [1] } });
  });

  it("attempt counters start at 1 in each run on the same store", async () => {
    const store = createMemoryStore();
    const clock = new ManualClock();
    const text = `steps: { build: { exec: make, on_fail: { retry: { max: 1 } } } }`;
    for (let again = 0; again < 2; again += 1) {
      const worker = new ScriptedWorker(clock, { build: ["fail", "ok"] });
      const engine = new Engine({ ...enginePorts(store, clock), worker, sandbox: plainSandbox });
      const { runId, ended } = await engine.start(workflow(text));
      await ended;
      const starts = (await store.readEvents(runId)).flatMap(({ event }) =>
        event.type === "attempt.started" ? [event.attempt] : [],
      );
      expect(starts).toEqual([1, 2]);
      await engine.stop();
    }
  });

  it("visits by goto do not eat the retry budget", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, goto: setup } }`,
      { build: ["fail", "fail", "fail", "fail", "fail", "ok"] },
    );
    expect(run.order).toEqual([
      "setup",
      "build",
      "build",
      "setup",
      "build",
      "build",
      "setup",
      "build",
      "build",
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("a step that ran when its engine died is run again, and the run goes on", async () => {
    const store = createMemoryStore();
    const clock = new ManualClock();
    const text = `steps: { build: { exec: make }, after: { exec: make, depends_on: build } }`;
    const first = new Engine({
      ...enginePorts(store, clock, "first"),
      worker: new ScriptedWorker(clock, { build: [{ output: null, takesMs: 1000 }] }),
      sandbox: plainSandbox,
    });
    const { runId } = await first.start(workflow(text));
    await flush();
    // The first engine is never heard of again: the clock stands still for it.
    const worker = new ScriptedWorker(clock, {});
    const second = new Engine({
      ...enginePorts(store, clock, "second"),
      worker,
      sandbox: plainSandbox,
      isDead: () => true,
    });
    const { ended } = await second.resume(runId);
    const run = await ended;
    expect(worker.order).toEqual(["build", "after"]);
    expect(run.status).toBe("completed");
    const log = (await store.readEvents(runId)).map(({ event }) => event);
    expect(log.filter((event) => event.type === "run.resumed")).toMatchObject([{ lost: [{ attempt: 1 }] }]);
    expect(log.filter((event) => event.type === "attempt.failed")).toMatchObject([
      { attempt: 1, error: { code: "WORKER_LOST", class: "infrastructure" } },
    ]);
    expect(log.filter((event) => event.type === "restart.granted")).toHaveLength(1);
  });

  it("a validation error is not retried even where a limit is 1", async () => {
    const run = await trial(`steps: { call: { exec: make, on_fail: { retry: { max: 1 } } } }`, {
      call: [{ facts: { message: "bad request", httpStatus: 422 } }],
    });
    expect(run.order).toEqual(["call"]);
    expect(run.events("attempt.failed")[0]!.error.class).toBe("deterministic_contract");
  });

  it("a fan-in counts branches, and a second pass through the same fan-out ends", async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true }
  left: { exec: make, depends_on: list }
  right: { exec: make, depends_on: list }
  sum: { exec: make, depends_on: [left, right], fanout: reduce, on_fail: { goto: list } }`,
      { list: [{ output: ["a", "b"] }], sum: ["fail", "ok"] },
    );
    expect(run.events("join.decided").map(({ completed }) => completed)).toEqual([2, 2]);
    expect(run.order.filter((step) => step === "sum")).toHaveLength(2);
    expect(run.run.status).toBe("completed");
  });

  it.each([
    ["a misspelt key", "steps: { a: { exec: make, on_fial: { goto: b } } }", "UNKNOWN_KEY"],
    ["a key of a later version", "steps: { a: { exec: make } }\nparameters: { n: 3 }", "UNKNOWN_KEY"],
    ["a join without branches", "steps: { a: { exec: make, join: any } }", "FAN_OUT"],
    [
      "an unknown backoff",
      "steps: { a: { exec: make, on_fail: { retry: { max: 1, backoff: { mode: fibonacci } } } } }",
      "INVALID_VALUE",
    ],
  ])("%s is refused, not accepted and ignored", (_, text, code) => {
    const loaded = load(text);
    expect(loaded.ok ? [] : loaded.problems.map((problem) => problem.code)).toContain(code);
  });

  it("the work of loading grows with the file, not with its square", () => {
    const chain = (length: number) =>
      JSON.stringify({
        steps: Object.fromEntries(
          Array.from({ length }, (_, index) => [
            `s${index}`,
            {
              exec: "make",
              ...(index > 0 ? { depends_on: [`s${index - 1}`], on_fail: { goto: "s0" } } : {}),
            },
          ]),
        ),
      });
    // Measured in work, not time: see src/file/check/ancestors.test.ts. Here it only has to come back at all.
    const loaded = load(chain(5000));
    expect(loaded.ok && loaded.definition.steps.length).toBe(5000);
  });
});
