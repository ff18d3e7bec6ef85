import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";
import type { Json } from "../../src/core/text/json.js";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";
import { problemsOf } from "../support/workflow-text.js";

const folder = mkdtempSync(join(tmpdir(), "daruma-stand-in-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const EDGE = "on_fail: { edge: { to: fix, then: continue } }";
/** `a` fails, `fix` stands in for it, `d` depends on `a`. */
const flow = (a = "", fix = "", more = "") => `steps:
  a: { exec: "true", ${EDGE}${a} }
  fix: { exec: "true"${fix} }
  d: { exec: "{{ outputs.a }}", depends_on: a }
${more}`;
const routed = (run: Parameters<typeof trace>[0]) =>
  trace(run).filter((line) => !/^(climb|fail|failed|ok|edge) /.test(line));

/** What the outputs of this step are to an attempt of another. */
const seen: Json[] = [];
const sees =
  (name: string) =>
  ({ variables }: { variables: { readonly [name: string]: Json } }) => {
    seen.push((variables[name] ?? null) as Json);
    return "ok" as const;
  };

describe("the moment at which a step stands in", () => {
  it("is when it has completed and its own on_success is over", async () => {
    const run = await trial(flow("", ", on_success: { run: [tell] }", '  tell: { exec: "true" }'), {
      a: ["fail"],
    });
    expect(routed(run)).toEqual([
      "start a",
      "start fix",
      "follow up fix by tell",
      "start tell",
      "followed up fix",
      "stood in a by fix",
      "start d",
      "run completed",
    ]);
  });

  it("does not wait for the transitions that follow its success, nor for other branches", async () => {
    const run = await trial(
      `${flow("", "", '  then: { exec: "true" }\n  slow: { exec: "true" }\n')}transitions: [{ from: fix, to: then }]`,
      { a: ["fail"], then: [{ output: 1, takesMs: 100 }], slow: [{ output: 1, takesMs: 500 }] },
    );
    expect(run.order).toEqual(["a", "slow", "fix", "then", "d"]);
    expect(run.times).toEqual([0, 0, 0, 0, 0]);
  });

  it("is that of the first step on the way that completes, all the way by edges that say continue", async () => {
    const run = await trial(
      flow("", ", on_fail: { edge: { to: last, then: continue } }", '  last: { exec: "true" }'),
      { a: ["fail"], fix: ["fail"], last: [{ output: "rescued" }] },
    );
    expect(routed(run)).toEqual([
      "start a",
      "start fix",
      "start last",
      "stood in fix by last",
      "stood in a by last",
      "start d",
      "run completed",
    ]);
    expect(run.job("a").output).toEqual({ kind: "value", value: "rescued" });
  });

  it.each([
    ["skip", "continue"],
    ["continue", "skip"],
  ])(
    "never comes where one edge of the way says skip (%s, then %s): the steps behind are skipped",
    async (first, second) => {
      const run = await trial(
        `steps:
  a: { exec: "true", on_fail: { edge: { to: fix, then: ${first} } } }
  fix: { exec: "true", on_fail: { edge: { to: last, then: ${second} } } }
  last: { exec: "true" }
  d: { exec: "true", depends_on: a }`,
        { a: ["fail"], fix: ["fail"] },
      );
      expect(run.run.status).toBe("completed");
      expect(run.job("a")).toMatchObject({ handled: true, stood_in_by: null });
      expect(run.job("d")).toMatchObject({ status: "skipped", skipped_by: run.job("a").id });
    },
  );

  it("never comes where the step that it led to is only tolerated", async () => {
    const run = await trial(flow("", ", continue_on_failure: true"), { a: ["fail"], fix: ["fail"] });
    expect(run.job("a")).toMatchObject({ handling: { how: "edge", by: "fix", then: "skip" } });
    expect(run.job("d").status).toBe("skipped");
  });

  it("never comes where that step goes back to one that waits for the failed step: nothing is handled", async () => {
    const run = await trial(
      `steps:
  a: { exec: "true", start: auto, ${EDGE} }
  d: { exec: "true", depends_on: a }
  fix: { exec: "true", start: auto, depends_on: d, on_success: { goto: { step: d, max: 1 } } }`,
      { a: ["fail"] },
    );
    expect(routed(run)).toEqual([
      "start a",
      "start fix",
      "goto fix -> d after success 1/1, loop 1",
      "again d fix",
      "settled handled [] unhandled [a]",
      "canceled d fix DEPENDENCY_FAILED",
      "run failed EXIT_1",
    ]);
    expect(run.job("a")).toMatchObject({ handled: false, handling: null, stood_in_by: null });
  });

  it("never comes where the way leads to no success: the failure is not handled", async () => {
    const run = await trial(flow(), { a: ["fail"], fix: ["fail"] });
    expect(run.run).toMatchObject({ status: "failed", error: { step_id: "a" } });
    expect(run.job("d").status).toBe("canceled");
  });
});

describe("the steps behind a step that another stood in for", () => {
  it("see its output in place of the failed one's", async () => {
    seen.length = 0;
    await trial(flow(), { a: ["fail"], fix: [{ output: { n: 7 } }], d: sees("outputs") });
    expect(seen).toEqual([{ a: { n: 7 } }]);
  });

  it("are started by an or-group and by needs: settled as by a success", async () => {
    const run = await trial(
      flow(
        "",
        "",
        `  other: { exec: "true" }
  either: { exec: "true", depends_on: "a|other" }
  after: { exec: "{{ outputs.a }}", depends_on: [a, other], needs: settled }`,
      ),
      {
        a: ["fail"],
        fix: [{ output: 1, takesMs: 10 }],
        other: [{ exit: 1, takesMs: 20 }],
        after: sees("outputs"),
      },
    );
    expect(run.order).toEqual(["a", "other", "fix", "d", "either", "after"]);
    expect(run.times).toEqual([0, 0, 0, 10, 10, 20]);
    expect(seen.at(-1)).toEqual({ a: 1 });
  });

  it("are the branches of a join as well: the branch counts as completed, with the status stood_in", async () => {
    const run = await trial(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, ${EDGE} }
  fix: { exec: "true" }
  sum: { exec: "{{ outputs.work }} {{ branches }}", depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["x", "y"] }],
        work: ({ variables }) =>
          (variables.foreach as { index: number }).index === 0 ? "fail" : { output: "done" },
        fix: [{ output: "mended" }],
        sum: ({ variables }) => {
          seen.push(variables.outputs as Json, variables.branches as Json);
          return "ok";
        },
      },
    );
    expect(run.events("join.decided")).toMatchObject([{ satisfied: true, completed: 2, failed: 0 }]);
    expect(seen.slice(-2)).toMatchObject([
      { work: ["mended", "done"] },
      [
        { key: "x", status: "stood_in", error: { code: "EXIT_1" } },
        { key: "y", status: "completed", error: null },
      ],
    ]);
  });

  it("run for each item of its list where the failed step is a forEach step", async () => {
    const run = await trial(flow(", forEach: true"), { a: ["fail"], fix: [{ output: ["p", "q"] }] });
    expect(run.order).toEqual(["a", "fix", "d[0]", "d[1]"]);
    expect(run.events("job.stood_in")).toMatchObject([{ items: [{ key: "p" }, { key: "q" }] }]);
  });
});

describe("what the failed step promises", () => {
  it.each<[string, string, Json, string]>([
    [
      "its schema",
      ", outputs: { type: object }",
      7,
      "the output does not fit its schema: $: must be object, is number",
    ],
    ["a list", ", forEach: true", 7, "a forEach step's output must be an array, also that of its stand-in"],
  ])("is kept by its stand-in, too: %s", async (_, promise, output, message) => {
    const run = await trial(flow(promise), { a: ["fail"], fix: [{ output }] });
    expect(run.run).toMatchObject({ status: "failed", error: { code: "OUTPUT_INVALID", step_id: "a" } });
    expect(run.job("a")).toMatchObject({
      handled: false,
      stood_in_by: null,
      error: { code: "OUTPUT_INVALID", message },
    });
    expect(run.jobs.find(({ step }) => step === "d")?.status ?? "canceled").toBe("canceled");
  });

  it("may be kept", async () => {
    const run = await trial(flow(", outputs: { type: integer }"), { a: ["fail"], fix: [{ output: 7 }] });
    expect(run.order).toEqual(["a", "fix", "d"]);
  });

  it("fails the run at once with fail_fast where it is not kept", async () => {
    const run = await trial(
      flow(", outputs: { type: object }", "", '  slow: { exec: "true" }\nfailure_policy: fail_fast'),
      { a: ["fail"], fix: [{ output: 7 }], slow: [{ output: 1, takesMs: 500 }] },
    );
    expect(run.job("slow").status).toBe("canceled");
    expect(run.run.error).toMatchObject({ code: "OUTPUT_INVALID" });
  });

  it.each([true, false])("are its output files: there is %s", async (isThere) => {
    const file = join(folder, `made-${isThere}`);
    if (isThere) writeFileSync(file, "");
    const run = await trial(flow(`, files: { outputs: [${JSON.stringify(file)}] }`), { a: ["fail"] });
    if (isThere) return expect(run.job("a").stood_in_by).toBe("fix");
    expect(run.run).toMatchObject({
      status: "failed",
      error: { code: "OUTPUT_MISSING", message: `a: nobody has made the output file ${file}` },
    });
  });

  it.each([", data: 1", ""])("is its user data: it has a value at first (%s)", async (data) => {
    const run = await trial(
      `user_data: [{ name: n${data} }]
unhandled: fail
jobs:
  - { name: a, command: x, output_user_data: [n], on_fail: { edge: { to: fix, then: continue } } }
  - { name: fix, command: x }
  - { name: d, command: x, depends_on: [a] }`,
      { a: ["fail"] },
    );
    if (data !== "") return expect(run.job("a").stood_in_by).toBe("fix");
    expect(run.run).toMatchObject({
      status: "failed",
      error: { code: "OUTPUT_MISSING", message: "a: nobody has written the user data n" },
    });
  });
});

describe("the step that another stood in for", () => {
  it("stays failed: nothing that follows its own success happens", async () => {
    const run = await trial(
      `${flow(", on_success: { run: [tell] }", "", '  tell: { exec: "true" }\n  next: { exec: "true" }\n')}transitions: [{ from: a, to: next }]`,
      { a: ["fail"], d: ({ variables }) => sees("outputs")({ variables }) },
    );
    expect(run.order).toEqual(["a", "fix", "d"]);
    expect(run.job("a")).toMatchObject({ status: "failed", handled: true, stood_in_by: "fix" });
    expect([run.job("tell").status, run.job("next").status]).toEqual(["skipped", "skipped"]);
  });

  it("has no entry in outputs.history", async () => {
    seen.length = 0;
    await trial(
      `steps:
  a: { exec: "true", ${EDGE} }
  fix: { exec: "true" }
  d: { exec: "{{ outputs.history.a | size }} {{ outputs.history.fix | size }}", depends_on: a }`,
      { a: ["fail"], d: sees("outputs") },
    );
    expect((seen[0] as { history: { [id: string]: Json[] } }).history).toMatchObject({ a: [], fix: [null] });
  });

  it("is not undone, its stand-in is", async () => {
    const run = await trial(
      flow(
        ", undo: undo-a",
        ", undo: undo-fix",
        '  end: { exec: "true", depends_on: d }\n  undo-a: { exec: "true" }\n  undo-fix: { exec: "true" }',
      ),
      { a: ["fail"], end: ["fail"] },
    );
    expect(run.order).toEqual(["a", "fix", "d", "end", "undo-fix"]);
  });

  it("needs no word of the file about a warning: with `then` nothing is said of skipped steps", () => {
    const text = flow();
    expect(problemsOf(text)).toEqual([]);
  });
});

describe("a loop", () => {
  it("by an edge to an ancestor: what the edge says counts only in the visit that stays the last", async () => {
    const text = (then: string) => `steps:
  setup: { exec: "true", start: auto }
  a: { exec: "true", depends_on: setup, on_fail: { edge: { to: setup, then: ${then} } } }
  d: { exec: "true", depends_on: a }`;
    for (const then of ["continue", "fail", "skip"]) {
      const run = await trial(text(then), { a: ["fail", "ok"] });
      expect(run.order).toEqual(["setup", "a", "setup", "a", "d"]);
      expect(run.run.status).toBe("completed");
      expect(run.events("job.stood_in")).toEqual([]);
    }
  });

  it("by an edge to a settled step: its new visit stands in", async () => {
    const run = await trial(
      `steps:
  fix: { exec: "true", start: auto }
  a: { exec: "true", depends_on: fix, on_fail: { retry: { max: 0 } } }
  b: { exec: "true", depends_on: a, needs: settled, ${EDGE} }
  d: { exec: "{{ outputs.b }}", depends_on: b }`,
      { b: ["fail", "ok"], fix: [{ output: 1 }, { output: 2 }] },
    );
    // The step that it leads to is an ancestor: the loop takes the failure away.
    expect(run.order).toEqual(["fix", "a", "b", "fix", "a", "b", "d"]);
    const beside = await trial(
      `steps:
  fix: { exec: "true", start: auto }
  b: { exec: "true", ${EDGE} }
  d: { exec: "{{ outputs.b }}", depends_on: b }`,
      { b: [{ exit: 1, takesMs: 10 }], fix: [{ output: 1 }, { output: 2 }], d: sees("outputs") },
    );
    expect(beside.order).toEqual(["fix", "b", "fix", "d"]);
    expect(seen.at(-1)).toEqual({ b: 2 });
  });
});
