import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

describe("retry", () => {
  it("runs the same step again and then goes on, with an ordered trace", {
    tags: ["V1", "V13", "V20", "V57", "V73"],
  }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 1500 } } } }
  after: { exec: make, depends_on: build }`,
      { build: ["fail", "fail", "ok"] },
    );
    expect(trace(run)).toEqual([
      "start build",
      "fail build EXIT_1",
      "climb build retry",
      "retry build 1/2 +1500",
      "start build",
      "fail build EXIT_1",
      "climb build retry",
      "retry build 2/2 +1500",
      "start build",
      "ok build",
      "start after",
      "ok after",
      "run completed",
    ]);
    expect(run.times).toEqual([0, 1500, 3000, 3000]);
    expect(run.job("build")).toMatchObject({ status: "completed", attempt_id: 3, visit: 1 });
    expect(
      run.routes.map(({ rung, step, to, attempt, at }) => [rung, step, to, attempt, at - run.run.created_at]),
    ).toEqual([
      ["retry", "build", "build", 1, 0],
      ["retry", "build", "build", 2, 1500],
    ]);
  });

  it("stops at retry.max: the step fails, its dependents are canceled, the run fails", {
    tags: ["V13", "V70"],
  }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { retry: { max: 2 } } }
  after: { exec: make, depends_on: build }`,
      { build: [{ exit: 7 }] },
    );
    expect(trace(run)).toEqual([
      "start build",
      "fail build EXIT_7",
      "climb build retry",
      "retry build 1/2 +0",
      "start build",
      "fail build EXIT_7",
      "climb build retry",
      "retry build 2/2 +0",
      "start build",
      "fail build EXIT_7",
      "climb build fail",
      "failed build EXIT_7",
      "canceled after DEPENDENCY_FAILED",
      "run failed EXIT_7",
    ]);
    const climbs = run.events("ladder.climbed");
    expect(climbs.at(-1)!.considered).toContainEqual({
      rung: "retry",
      applied: false,
      kind: "no_retries_left",
      reason: "no retries left (2 used)",
    });
    expect(run.run.error?.message).toContain("build");
  });

  it.each([
    ["fixed", "{ mode: fixed, delay_ms: 200 }", [200, 200, 200, 200]],
    ["linear", "{ mode: linear, delay_ms: 200 }", [200, 400, 600, 800]],
    ["exponential", "{ mode: exponential, delay_ms: 200 }", [200, 400, 800, 1600]],
    [
      "exponential with a cap",
      "{ mode: exponential, delay_ms: 200, max_delay_ms: 500 }",
      [200, 400, 500, 500],
    ],
    ["none", "{ mode: none }", [0, 0, 0, 0]],
  ])("waits the backoff: %s", { tags: ["V9", "V70"] }, async (_, backoff, delays) => {
    const run = await trial(
      `steps: { build: { exec: make, on_fail: { retry: { max: 4, backoff: ${backoff} } } } }`,
      { build: ["fail"] },
    );
    const gaps = run.times.slice(1).map((time, index) => time - run.times[index]!);
    expect(gaps).toEqual(delays);
    expect(run.events("retry.scheduled").map((event) => event.delay_ms)).toEqual(delays);
  });

  it("a step is waiting, not running, during its backoff, and others go on", { tags: ["V13"] }, async () => {
    const run = await trial(
      `steps:
  build: { exec: make, on_fail: { retry: { max: 1, backoff: { delay_ms: 5000 } } } }
  other: { exec: make }
  later: { exec: make, depends_on: other }`,
      { build: ["fail", "ok"], other: [{ output: null, takesMs: 100 }] },
      { capacity: 1 },
    );
    expect(run.order).toEqual(["build", "other", "later", "build"]);
    expect(run.times).toEqual([0, 0, 100, 5000]);
  });

  it("every step has its own attempt counter and its own retries", { tags: ["V41"] }, async () => {
    const run = await trial(
      `steps:
  a: { exec: make, on_fail: { retry: { max: 1 } } }
  b: { exec: make, depends_on: a, on_fail: { retry: { max: 2 } } }`,
      { a: ["fail", "ok"], b: ["fail", "fail", "ok"] },
    );
    expect(run.order).toEqual(["a", "a", "b", "b", "b"]);
    expect(run.job("a").attempt_id).toBe(2);
    expect(run.job("b").attempt_id).toBe(3);
    expect(run.events("retry.scheduled").map(({ retry }) => retry)).toEqual([1, 1, 2]);
  });

  it("waits as long as a failure asks for, whatever the cap, and at least the backoff", {
    tags: ["V70"],
  }, async () => {
    const asks = (retryAfterMs: number) => ({ facts: { message: "busy", httpStatus: 429, retryAfterMs } });
    const run = await trial(
      `steps: { call: { exec: make, on_fail: { retry: { max: 3, backoff: { mode: fixed, delay_ms: 1000, max_delay_ms: 5000 } } } } }`,
      { call: [asks(3000), asks(10), asks(60_000), "ok"] },
    );
    expect(run.times).toEqual([0, 3000, 4000, 64_000]);
  });

  it("does not retry an error that another try cannot help", { tags: ["V70"] }, async () => {
    const run = await trial(`steps: { call: { exec: make, on_fail: { retry: { max: 3 } } } }`, {
      call: [{ facts: { message: "not found", httpStatus: 404 } }],
    });
    expect(run.order).toEqual(["call"]);
    expect(run.events("ladder.climbed")[0]!.considered.find(({ rung }) => rung === "retry")).toMatchObject({
      applied: false,
    });
    expect(run.events("attempt.failed")[0]!.error).toMatchObject({
      code: "404",
      class: "deterministic_contract",
      retryable: false,
    });
  });

  it("retry.on narrows what is retried", { tags: ["V70"] }, async () => {
    const run = await trial(`steps: { call: { exec: make, on_fail: { retry: { max: 3, on: [EXIT_2] } } } }`, {
      call: [{ exit: 2 }, { exit: 3 }],
    });
    expect(run.order).toEqual(["call", "call"]);
    expect(run.run.error?.code).toBe("EXIT_3");
  });

  it("routing.defaults apply to a step without on_fail and are merged key by key", {
    tags: ["V8"],
  }, async () => {
    const run = await trial(
      `routing: { defaults: { on_fail: { retry: { max: 2, backoff: { mode: fixed, delay_ms: 300 } } } } }
steps:
  plain: { exec: make }
  own: { exec: make, depends_on: plain, on_fail: { retry: { max: 1 } } }
  slower: { exec: make, depends_on: own, on_fail: { retry: { backoff: { delay_ms: 700 } } } }
  never: { exec: make, depends_on: slower, on_fail: { retry: { max: 0 } } }`,
      { plain: ["fail", "fail", "ok"], own: ["fail", "ok"], slower: ["fail", "fail", "ok"], never: ["fail"] },
    );
    expect(run.order).toEqual([
      "plain",
      "plain",
      "plain",
      "own",
      "own",
      "slower",
      "slower",
      "slower",
      "never",
    ]);
    expect(run.times).toEqual([0, 300, 600, 600, 900, 900, 1600, 2300, 2300]);
    expect(run.run.status).toBe("failed");
  });

  it("nothing is retried by default", { tags: ["V82"] }, async () => {
    const run = await trial(`steps: { build: { exec: make } }`, { build: ["fail", "ok"] });
    expect(run.order).toEqual(["build"]);
    expect(run.run.status).toBe("failed");
  });
});
