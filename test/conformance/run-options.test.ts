import { describe, expect, it } from "vitest";
import { exitCodeOfStatus } from "../../src/cli/terminal/exit-codes.js";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

const FULL = `routing: { max_loops: 5 }
steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, run: [fix], goto: setup }, on_success: { run: [note], goto_js: "return visit < 9 ? 'setup' : null" } }
  fix: { exec: make }
  note: { exec: make }
  after: { exec: make, depends_on: build }`;

const EVERY_RUNG = `unhandled: hold
queue: { max_attempts: 2 }
workspace: { repo: ., ref: HEAD }
self_heal: true
failure_handlers: [{ name: fix-it, rules: [{ match_all_exit_codes: true, max_retries: 1 }] }]
steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, failure_handler: fix-it, on_fail: { retry: { max: 1 }, run: [fix], goto: setup } }
  fix: { exec: make }
transitions: [{ from: build, to: fix, on: failure }]`;

describe("options of a run", () => {
  it.each([
    [{ failure_routing: false }, "routing_off", "failure routing is off"],
    [{ only: "build" }, "single_attempt", "only one attempt of one step was asked for"],
  ])(
    "%o: takes out every rung that could answer a failure",
    { tags: ["V54"] },
    async (options, kind, reason) => {
      const run = await trial(EVERY_RUNG, { build: ["fail"] }, { options });
      const rungs = ["rule", "retry", "reset", "remediate", "goto", "edge", "requeue", "hold"];
      expect(
        run
          .events("ladder.climbed")
          .flatMap(({ considered }) => considered)
          // Neither a canceled run, nor a lost worker, nor a breaker.
          .slice(3),
      ).toEqual([
        ...rungs.map((rung) => ({ rung, applied: false, kind, reason })),
        { rung: "fail", applied: true, kind: "applies", reason: "no other rung applies" },
      ]);
    },
  );

  it("--only: nor is a lost worker replaced", async () => {
    const lost = { facts: { lost: true, message: "gone" } };
    const run = await trial(FULL, { build: [lost] }, { options: { only: "build" } });
    expect(run.order).toEqual(["build"]);
    expect(run.events("ladder.climbed")[0]!.considered[1]).toMatchObject({
      rung: "restart",
      kind: "single_attempt",
    });
  });

  it("--no-failure-routing: no retry, repair or goto, neither after failure", { tags: ["V54"] }, async () => {
    const run = await trial(FULL, { build: ["fail"] }, { options: { failure_routing: false } });
    expect(trace(run)).toEqual([
      "start setup",
      "ok setup",
      "start build",
      "fail build EXIT_1",
      "climb build fail",
      "failed build EXIT_1",
      "canceled after DEPENDENCY_FAILED",
      "skipped fix note",
      "run failed EXIT_1",
    ]);
    const reasons = run
      .events("ladder.climbed")[0]!
      .considered.filter(({ rung }) => ["retry", "remediate", "goto"].includes(rung));
    expect(reasons.map(({ reason }) => reason)).toEqual(Array(3).fill("failure routing is off"));
  });

  it("--no-failure-routing: nor a goto after success, while on_success.run stays", {
    tags: ["V54"],
  }, async () => {
    const run = await trial(FULL, {}, { options: { failure_routing: false } });
    expect(run.order).toEqual(["setup", "build", "note", "after"]);
    expect(run.run.status).toBe("completed");
  });

  it("--no-failure-routing: a lost worker is still replaced", { tags: ["V54"] }, async () => {
    const run = await trial(
      FULL,
      { build: [{ facts: { lost: true, message: "gone" } }, "ok"] },
      { options: { failure_routing: false } },
    );
    expect(run.order).toEqual(["setup", "build", "build", "note", "after"]);
  });

  it("--retry-max overrides every step's own number, upwards", { tags: ["V53"] }, async () => {
    const run = await trial(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, on_fail: { retry: { max: 1, backoff: { delay_ms: 50 } } } }`,
      { a: ["fail", "fail", "ok"], b: ["fail", "fail", "ok"] },
      { options: { retry_max: 2 } },
    );
    expect(run.order).toEqual(["a", "a", "a", "b", "b", "b"]);
    expect(run.times).toEqual([0, 0, 0, 0, 50, 100]);
  });

  it("--retry-max 0 switches retries off and leaves the other rungs", { tags: ["V53"] }, async () => {
    const run = await trial(
      FULL,
      { build: ["fail", "fail", "ok"] },
      { options: { retry_max: 0, max_loops: 2 } },
    );
    expect(run.order.slice(0, 6)).toEqual(["setup", "build", "fix", "build", "setup", "build"]);
  });

  it("--on-fail-max-loops overrides routing.max_loops", { tags: ["V52"] }, async () => {
    const text = `routing: { max_loops: 5 }
steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto: setup } }`;
    const run = await trial(text, { build: ["fail"] }, { options: { max_loops: 1 } });
    expect(run.order).toEqual(["setup", "build", "setup", "build"]);
    expect(run.run.error).toMatchObject({
      code: "LOOP_BUDGET_EXCEEDED",
      message: "build: exit code 1 (EXIT_1), and max_loops (1) is used up: 1 loop",
    });
  });

  it("max_loops is 10 by default", { tags: ["V7"] }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { goto: setup } }`,
      { build: ["fail"] },
    );
    expect(run.order.filter((step) => step === "build")).toHaveLength(11);
  });

  it("--only runs exactly one attempt of one step, whatever its routing", async () => {
    const run = await trial(FULL, { build: ["fail"] }, { options: { only: "build" } });
    expect(run.order).toEqual(["build"]);
    expect(run.run.status).toBe("failed");
    expect(run.job("setup").status).toBe("skipped");
    const good = await trial(FULL, {}, { options: { only: "build" } });
    expect(good.order).toEqual(["build"]);
    expect(good.run.status).toBe("completed");
  });

  it("exit codes tell the outcome", { tags: ["V74"] }, async () => {
    const text = `steps: { build: { exec: make }, slow: { exec: make } }`;
    const completed = await trial(text);
    const failed = await trial(text, { build: ["fail"] });
    const canceled = await trial(
      text,
      { slow: [{ output: null, takesMs: 100 }] },
      {
        onTurn: (engine, runId, turn) =>
          turn === 0 && engine.post(runId, { type: "run.cancel", reason: "enough", key: null }),
      },
    );
    expect([completed, failed, canceled].map(({ run }) => exitCodeOfStatus(run.status))).toEqual([0, 1, 4]);
  });
});
