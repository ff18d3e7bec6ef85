import { describe, expect, it } from "vitest";
import { MAX_GIVEN_USER_DATA_BYTES } from "../../src/core/model/batch/user-data.js";
import type { Json } from "../../src/core/text/json.js";
import type { Assignment } from "../../src/run/worker.js";
import { trial } from "../support/harness.js";
import type { Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

/** What each attempt was given, in the order in which they began. */
function watched(script: Script): { readonly script: Script; readonly given: [string, Json][] } {
  const given: [string, Json][] = [];
  const watch = (step: string) => (assignment: Assignment, nth: number) => {
    given.push([step, (assignment.userData?.given ?? null) as Json]);
    const entry = script[step] ?? ["ok"];
    return typeof entry === "function" ? entry(assignment, nth) : entry[Math.min(nth, entry.length) - 1]!;
  };
  return { script: Object.fromEntries(Object.keys(script).map((step) => [step, watch(step)])), given };
}

const CHAIN = `
unhandled: fail
user_data: [{ name: rate, data: 0.1 }, { name: best }]
jobs:
  - { name: search, command: x, input_user_data: [rate], output_user_data: [best], on_fail: { retry: { max: 1 } } }
  - { name: report, command: x, input_user_data: [best, rate] }
`;

describe("user data", () => {
  it("is given as it was last written, is on record with the success, and replays after a crash", async () => {
    const { script, given } = watched({
      search: [{ output: null, userData: { best: { score: 3, by: null } } }],
      report: [{ exit: 1, takesMs: 100 }],
    });
    const stage = await Stage.begin(CHAIN, script);
    stage.kill();
    await stage.resume();
    const run = await stage.rest();
    expect(run.events("attempt.succeeded").map(({ user_data: userData }) => userData)).toEqual([
      { best: { score: 3, by: null } },
    ]);
    // Its first attempt was lost with the engine.
    expect(given).toEqual([
      ["search", { rate: 0.1 }],
      ["report", { best: { score: 3, by: null }, rate: 0.1 }],
      ["report", { best: { score: 3, by: null }, rate: 0.1 }],
    ]);
  });

  it("that a worker does not bring fails the attempt, which climbs the ladder like any other", async () => {
    const run = await trial(CHAIN, {
      search: [{ output: null }, { output: null, userData: { best: 1 } }],
    });
    expect(trace(run)).toEqual([
      "start search",
      "fail search OUTPUT_MISSING",
      "climb search retry",
      "retry search 1/1 +0",
      "start search",
      "ok search",
      "start report",
      "ok report",
      "run completed",
    ]);
    expect(run.events("attempt.failed")[0]!.error).toMatchObject({
      class: "application",
      message: "the job ended without writing the user data best to $DARUMA_USER_DATA_OUT",
    });
  });

  it("that the job does not name is refused: nobody would know who reads it", async () => {
    const run = await trial(CHAIN, { search: [{ output: null, userData: { best: 1, bset: 2 } }] });
    expect(run.job("search").error).toMatchObject({
      code: "OUTPUT_INVALID",
      class: "deterministic_contract",
      message: "the job wrote the user data bset, which is not in its output_user_data",
    });
    expect(run.order).toEqual(["search"]);
  });

  it("of a job that names none is not kept", async () => {
    const run = await trial("jobs: [{ name: a, command: x }]", {
      a: [{ output: null, userData: { stray: 1 } }],
    });
    expect(run.run.status).toBe("completed");
    expect(run.events("attempt.succeeded")[0]).not.toHaveProperty("userData");
  });

  it("is changed in place, and written again by a new visit", async () => {
    const counting = (assignment: { userData?: { given: { readonly [name: string]: Json } } }) => ({
      output: null,
      userData: { n: Number(assignment.userData!.given.n) + 1 },
    });
    const { script, given } = watched({ count: counting, check: ["fail", "ok"] });
    await trial(
      `
unhandled: fail
user_data: [{ name: n, data: 0 }]
jobs:
  - { name: count, command: x, input_user_data: [n], output_user_data: [n] }
  - { name: check, command: x, input_user_data: [n], on_fail: { goto: count } }`,
      script,
    );
    expect(given).toEqual([
      ["count", { n: 0 }],
      ["check", { n: 1 }],
      ["count", { n: 1 }],
      ["check", { n: 2 }],
    ]);
  });

  it("keeps a written null apart from what the value began with", async () => {
    const { script, given } = watched({ a: [{ output: null, userData: { v: null } }], b: ["ok"] });
    await trial(
      `
user_data: [{ name: v, data: old }]
jobs: [{ name: a, command: x, output_user_data: [v] }, { name: b, command: x, input_user_data: [v] }]`,
      script,
    );
    expect(given.at(-1)).toEqual(["b", { v: null }]);
  });

  it("is left out where who writes it failed and the reader runs all the same", async () => {
    const { script, given } = watched({ a: ["fail"], b: ["ok"] });
    const run = await trial(
      `
unhandled: fail
user_data: [{ name: v }, { name: w, data: 2 }]
jobs: [{ name: a, command: x, output_user_data: [v, w] }, { name: b, command: x, input_user_data: [v, w], cancel_on_blocking_job_failure: false }]`,
      script,
    );
    expect(given).toEqual([
      ["a", {}],
      ["b", { w: 2 }],
    ]);
    expect(run.job("b").status).toBe("completed");
  });

  it("that is too much to hand over fails the job that reads it, before it begins", async () => {
    const large = "x".repeat(MAX_GIVEN_USER_DATA_BYTES);
    const run = await trial(
      `
unhandled: fail
user_data: [{ name: v }]
jobs:
  - { name: a, command: x, output_user_data: [v] }
  - { name: b, command: x, input_user_data: [v], on_fail: { retry: { max: 3 } } }`,
      { a: [{ output: null, userData: { v: large } }] },
    );
    expect(run.order).toEqual(["a", "b"]);
    expect(run.job("b").error).toMatchObject({
      code: "USER_DATA_TOO_LARGE",
      class: "deterministic_contract",
      message: "the user data that the job reads is 16 MiB of JSON; the limit is 16 MiB",
    });
  });
});

describe("jobs_sort_method", () => {
  const order = (method: string) => `
jobs_sort_method: ${method}
jobs:
  - { name: small, command: x }
  - { name: long, command: x, resource_requirements: { runtime: PT2H, memory: 1g } }
  - { name: large, command: x, resource_requirements: { runtime: PT1H, memory: 8g } }
  - { name: gpu, command: x, resource_requirements: { num_gpus: 1, runtime: PT1M } }
  - { name: long_too, command: x, resource_requirements: { runtime: PT2H, memory: 1g } }
  - { name: after, command: x, depends_on: small, resource_requirements: { runtime: PT3H } }
`;
  const one = { capacity: 1 };

  it("starts what asks for most first, among equals what became ready first", async () => {
    const byTime = await trial(order("gpus_runtime_memory"), {}, one);
    expect(byTime.order).toEqual(["gpu", "long", "long_too", "large", "small", "after"]);
    const byMemory = await trial(order("gpus_memory_runtime"), {}, one);
    expect(byMemory.order).toEqual(["gpu", "large", "long", "long_too", "small", "after"]);
  });

  it("none starts them in the order in which they became ready", async () => {
    const run = await trial(order("none"), {}, one);
    expect(run.order).toEqual(["small", "long", "large", "gpu", "long_too", "after"]);
  });

  it("goes by what a rule has given the job since", async () => {
    const run = await trial(
      `
jobs_sort_method: gpus_runtime_memory
failure_handlers: [{ name: more, rules: [{ exit_codes: [152], max_retries: 2, scale: { runtime: 4 } }] }]
jobs:
  - { name: grows, command: x, failure_handler: more, resource_requirements: { runtime: PT3H } }
  - { name: "b_{i}", command: x, parameters: { i: "1:2" }, resource_requirements: { runtime: PT2H } }`,
      { grows: [{ facts: { code: "WALLTIME", exitCode: 152, message: "slow" } }, "ok"] },
      one,
    );
    expect(run.order).toEqual(["grows", "grows", "b_1", "b_2"]);
  });
});
