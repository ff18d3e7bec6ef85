import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/text/json.js";
import type { Evaluation, Sandbox } from "../../src/run/sandbox/sandbox.js";
import { type TrialOptions, trial } from "../support/harness.js";
import { plainSandbox } from "../support/plain-sandbox.js";
import type { Script } from "../support/scripted-worker.js";

type Variables = { readonly [name: string]: Json };

/** What each evaluation of a run was given, in order. */
async function evaluationsOf(
  text: string,
  script: Script = {},
  options: TrialOptions = {},
): Promise<Variables[]> {
  const seen: Variables[] = [];
  const sandbox: Sandbox = {
    evaluate(evaluation: Evaluation) {
      seen.push(structuredClone(evaluation.variables));
      return plainSandbox.evaluate(evaluation);
    },
    render: plainSandbox.render,
    close: () => Promise.resolve(),
  };
  await trial(text, script, { ...options, sandbox });
  return seen;
}

describe("what expressions see", () => {
  it("step with id, tags and group", { tags: ["V23"] }, async () => {
    const [first] = await evaluationsOf(
      `steps: { build: { exec: make, tags: [slow, ci], group: quality, on_fail: { goto_js: "return null" } } }`,
      { build: ["fail"] },
    );
    expect(first!.step).toEqual({ id: "build", tags: ["slow", "ci"], group: "quality" });
  });

  it("attempt from 1 and over all visits; visit from 1", { tags: ["V24"] }, async () => {
    const seen = await evaluationsOf(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, goto_js: "return attempt < 4 ? 'setup' : null" } }`,
      { build: ["fail"] },
    );
    expect(seen.map(({ attempt, visit }) => [attempt, visit])).toEqual([
      [2, 1],
      [4, 2],
    ]);
  });

  it("attempt is 1 on the first try", { tags: ["V24"] }, async () => {
    const [first] = await evaluationsOf(
      `steps: { build: { exec: make, on_fail: { run_js: "return []" } } }`,
      { build: ["fail"] },
    );
    expect(first).toMatchObject({ attempt: 1, visit: 1, loop: 0 });
  });

  it("loop counts the transitions of the scope so far", { tags: ["V25"] }, async () => {
    const seen = await evaluationsOf(
      `steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { run: [fix], goto_js: "return loop < 5 ? 'setup' : null" } }
  fix: { exec: make }`,
      { build: ["fail"] },
    );
    expect(seen.map(({ loop }) => loop)).toEqual([1, 3, 5]);
  });

  it("loop counts the retries of this job with them, not those of others", { tags: ["V25"] }, async () => {
    const seen = await evaluationsOf(
      `steps:
  setup: { exec: make }
  other: { exec: make, on_fail: { retry: { max: 3 } } }
  build:
    { exec: make, depends_on: [setup, other], on_fail: { retry: { max: 2 }, goto_js: "return visit < 3 ? 'setup' : null" } }`,
      { build: ["fail"], other: ["fail", "fail", "fail", "ok"] },
    );
    // Two retries, then a goto and two more, then another goto and two more.
    expect(seen.map(({ loop }) => loop)).toEqual([2, 5, 8]);
  });

  it("error: the record, with stdout, stderr and exitCode as shorter names", { tags: ["V26"] }, async () => {
    const [first] = await evaluationsOf(
      `steps: { build: { exec: make, on_fail: { goto_js: "return null" } } }`,
      { build: [{ facts: { message: "it broke", exitCode: 3, stdoutTail: "out", stderrTail: "err" } }] },
    );
    expect(first!.error).toMatchObject({
      ...{ message: "it broke", code: "EXIT_3", class: "application" },
      ...{ stdout: "out", stderr: "err", exitCode: 3 },
      ...{ stdout_tail: "out", stderr_tail: "err", exit_code: 3 },
    });
  });

  it("error is that of the last attempt, and null after a success", { tags: ["V26"] }, async () => {
    const seen = await evaluationsOf(
      `steps:
  build: { exec: make, on_fail: { retry: { max: 1 }, run_js: "return ['fix']" }, on_success: { goto_js: "return null" } }
  fix: { exec: make, start: routed }`,
      { build: [{ exit: 2 }, { exit: 3 }, "ok"] },
    );
    expect((seen[0]!.error as { exitCode: number }).exitCode).toBe(3);
    expect(seen[1]!.error).toBeNull();
  });

  it("foreach with key, index, total and path inside, null outside", { tags: ["V27", "V49"] }, async () => {
    const seen = await evaluationsOf(
      `steps:
  plain: { exec: make, if: "true" }
  list: { exec: make, forEach: true, depends_on: plain }
  work: { exec: make, depends_on: list, if: "true" }`,
      { list: [{ output: ["x", "y"] }] },
    );
    expect(seen.map(({ foreach }) => foreach)).toEqual([
      null,
      { key: "x", index: 0, total: 2, path: "root/list[0]" },
      { key: "y", index: 1, total: 2, path: "root/list[1]" },
    ]);
  });

  it("outputs of the steps it names, as templates see them", { tags: ["V28"] }, async () => {
    const [first] = await evaluationsOf(
      `steps:
  a: { exec: make }
  b: { exec: make }
  c: { exec: make, depends_on: [a, b], if: "outputs.a.version > 1" }`,
      { a: [{ output: { version: 2 } }], b: [{ output: "unused" }] },
    );
    expect(first!.outputs).toEqual({ a: { version: 2 } });
  });

  it("in an item the forEach step's output is the item, and names resolve outward", {
    tags: ["V28"],
  }, async () => {
    const seen = await evaluationsOf(
      `steps:
  config: { exec: make }
  list: { exec: make, forEach: true, depends_on: config }
  one: { exec: "{{ foreach.index }}", depends_on: list }
  two: { exec: make, depends_on: one, if: "return [outputs.config, outputs.list, outputs.one].length > 0" }`,
      {
        config: [{ output: "c" }],
        list: [{ output: [{ n: 1 }, { n: 2 }] }],
        one: (_, nth) => ({ output: `one ${nth}` }),
      },
      { capacity: 1 },
    );
    expect(seen.map(({ outputs }) => outputs)).toEqual([
      { config: "c", list: { n: 1 }, one: "one 1" },
      { config: "c", list: { n: 2 }, one: "one 1" },
    ]);
  });

  it("outputs.history has one entry a completion, the current one included, and none for others", {
    tags: ["V19", "V28"],
  }, async () => {
    const seen = await evaluationsOf(
      `steps:
  a: { exec: make }
  b: { exec: make, depends_on: a, on_success: { goto_js: "return outputs.history['b'].length < 3 ? 'a' : null" } }
  never: { exec: make, start: routed }`,
      { b: [{ output: 1 }, { output: 2 }, { output: 3 }] },
    );
    expect(seen.map(({ outputs }) => (outputs as { history: { b: Json; never: Json } }).history.b)).toEqual([
      [1],
      [1, 2],
      [1, 2, 3],
    ]);
    expect((seen[0]!.outputs as { history: { never: Json } }).history.never).toEqual([]);
  });

  it("inputs, env without secrets, and pr and files from the context", { tags: ["V29"] }, async () => {
    const [first] = await evaluationsOf(
      `inputs: { target: { type: string } }
env: { CI: "1", TOKEN: x }
secrets: [TOKEN]
steps: { build: { exec: make, env: { MODE: fast }, if: "true" } }`,
      {},
      { inputs: { target: "prod" }, context: { pr: { number: 7 }, files: ["a.ts"] } },
    );
    expect(first).toMatchObject({
      inputs: { target: "prod" },
      env: { CI: "1", MODE: "fast" },
      pr: { number: 7 },
      files: ["a.ts"],
    });
    expect(first!.env).not.toHaveProperty("TOKEN");
  });

  it("state._last_error is set when a failure passes the retries, and cleared by the next success", async () => {
    const seen = await evaluationsOf(
      `steps:
  setup: { exec: make, on_success: { run_js: "return []" } }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, goto: setup }, on_success: { run_js: "return []" } }`,
      { build: [{ exit: 4 }, { exit: 5 }, "ok"] },
    );
    const states = seen.map(
      ({ state }) => (state as { _last_error: { code: string; step_id: string } | null })._last_error,
    );
    expect(states).toEqual([null, null, null]);
    const [during] = await evaluationsOf(
      `steps:
  build: { exec: make, on_fail: { run: [fix] } }
  fix: { exec: make, if: "state._last_error.code === 'EXIT_5'" }`,
      { build: [{ exit: 5 }, "ok"] },
    );
    expect((during!.state as { _last_error: Json })._last_error).toMatchObject({
      code: "EXIT_5",
      step_id: "build",
      attempt: 1,
    });
  });
});
