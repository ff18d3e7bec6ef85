import { describe, expect, it } from "vitest";
import type { Json } from "../../src/core/text/json.js";
import type { Assignment } from "../../src/run/worker.js";
import { type Trial, trial } from "../support/harness.js";
import type { Outcome } from "../support/scripted-worker.js";
import { trace } from "../support/trace.js";

function indexOf({ variables }: Assignment): number {
  return (variables.foreach as { index: number }).index;
}

const LIST = `steps:
  list: { exec: make, forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list }`;

describe("forEach", () => {
  it("runs dependents once an item, each with its item as output of the list", async () => {
    const seen: unknown[] = [];
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true }
  work: { exec: "{{ foreach.key }} {{ outputs.list }}", depends_on: list }
  sum: { exec: "{{ outputs.work }}", depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["a", "b"] }],
        work: ({ action }) => ({ output: action.exec as string }),
        sum: ({ action }) => {
          seen.push(action.exec);
          return "ok";
        },
      },
    );
    expect(seen).toEqual(['["a a","b b"]']);
    expect(run.job("work", "root/list[1]").output).toEqual({ kind: "value", value: "b b" });
    expect(run.run.status).toBe("completed");
  });

  it("an empty array runs nothing but the reducer, with []", async () => {
    const run = await trial(
      `${LIST}
  deep: { exec: make, depends_on: work }
  sum: { exec: "{{ outputs.deep }}", depends_on: deep, fanout: reduce, join: { at_least: 2 } }
  after: { exec: make, depends_on: sum }`,
      { list: [{ output: [] }], sum: ({ action }) => ({ output: action.exec as string }) },
    );
    expect(run.order).toEqual(["list", "sum", "after"]);
    expect(run.job("sum").output).toEqual({ kind: "value", value: "[]" });
    expect(run.events("join.decided")).toMatchObject([
      { satisfied: true, completed: 0, failed: 0, skipped: 0 },
    ]);
  });

  it("an output that is no array fails with NOT_AN_ARRAY, which is not retried", async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true, on_fail: { retry: { max: 2 } } }
  work: { exec: make, depends_on: list }
  sum: { exec: make, depends_on: work, fanout: reduce }`,
      { list: [{ output: { a: 1 } }] },
    );
    expect(run.order).toEqual(["list"]);
    expect(run.run.error?.code).toBe("NOT_AN_ARRAY");
    expect(run.job("sum").status).toBe("canceled");
  });

  it("a failed or skipped list cancels or skips its reducer", async () => {
    const text = (list: string) => `steps:
  list: { exec: make, forEach: true${list} }
  work: { exec: make, depends_on: list }
  sum: { exec: make, depends_on: work, fanout: reduce }
  after: { exec: make, depends_on: sum }`;
    const failed = await trial(text(""), { list: ["fail"] });
    expect([failed.job("sum").status, failed.job("after").status]).toEqual(["canceled", "canceled"]);
    const skipped = await trial(text(", if: 'false'"));
    expect([skipped.job("sum").status, skipped.job("after").status]).toEqual(["skipped", "skipped"]);
    expect(skipped.run.status).toBe("completed");
  });

  it("an item step whose other dependency had failed before the items came is canceled", async () => {
    const run = await trial(
      `steps:
  tool: { exec: make }
  list: { exec: make, forEach: true }
  work: { exec: make, depends_on: [list, tool] }
  sum: { exec: make, depends_on: work, fanout: reduce }`,
      { tool: ["fail"], list: [{ output: ["a", "b"], takesMs: 10 }] },
    );
    expect(run.order).toEqual(["tool", "list"]);
    expect(run.job("work", "root/list[1]").status).toBe("canceled");
    expect(run.job("sum")).toMatchObject({ status: "canceled", error: { code: "JOIN_UNSATISFIED" } });
    expect(run.run.error?.code).toBe("EXIT_1");
  });

  it("nested fan-outs: each inner reducer once an outer item, the outer one once", async () => {
    const run = await trial(
      `steps:
  outer: { exec: make, forEach: true }
  inner: { exec: "{{ outputs.outer }}", depends_on: outer, forEach: true }
  work: { exec: "{{ foreach.key }}", depends_on: inner }
  part: { exec: "{{ outputs.work }}", depends_on: work, fanout: reduce }
  whole: { exec: "{{ outputs.part }}", depends_on: part, fanout: reduce }`,
      {
        outer: [{ output: ["a", "b"] }],
        inner: ({ action }) => ({ output: [`${action.exec as string}1`, `${action.exec as string}2`] }),
        work: ({ action }) => ({ output: action.exec as string }),
        part: ({ action }) => ({ output: JSON.parse(action.exec as string) as Json }),
        whole: ({ action }) => ({ output: JSON.parse(action.exec as string) as Json }),
      },
    );
    expect(run.order.filter((step) => step.startsWith("work"))).toHaveLength(4);
    expect(run.order.filter((step) => step.startsWith("part"))).toHaveLength(2);
    expect(run.job("whole").output).toEqual({
      kind: "value",
      value: [
        ["a1", "a2"],
        ["b1", "b2"],
      ],
    });
    expect(run.jobs.map(({ scope }) => scope)).toContain("root/outer[1]/inner[0]");
  });
});

describe("join", () => {
  /** Items that complete (c), fail (f) or are skipped by `if` (s). */
  async function joined(join: string, items: string): Promise<Trial> {
    return trial(
      `steps:
  list: { exec: make, forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, if: "foreach.key !== 's'" }
  sum: { exec: "{{ outputs.work }}", depends_on: work, fanout: reduce, join: ${join} }
  after: { exec: make, depends_on: sum }`,
      {
        list: [{ output: [...items] }],
        work: ({ variables }) =>
          (variables.foreach as { key: string }).key === "f" ? "fail" : { output: "w" },
        sum: ({ action }) => ({ output: action.exec as string }),
      },
    );
  }

  it.each([
    ["all", "ccc", "completed", true],
    ["all", "ccf", "canceled", false],
    ["all", "ccs", "skipped", true],
    ["any", "ffc", "completed", true],
    ["any", "fff", "canceled", false],
    ["any", "sss", "skipped", true],
    ["any", "ssf", "canceled", false],
    ["{ at_least: 2 }", "ccf", "completed", true],
    ["{ at_least: 2 }", "cff", "canceled", false],
    ["{ at_least: 2 }", "css", "skipped", true],
    ["{ at_least: 2 }", "c", "skipped", true],
  ] as const)("%s of %s: the reducer is %s", async (join, items, status, completes) => {
    const run = await joined(join, items);
    expect(run.job("sum").status).toBe(status);
    expect(run.job("after").status).toBe(status);
    expect(run.run.status).toBe(completes ? "completed" : "failed");
    if (status === "canceled") expect(run.job("sum").error).toMatchObject({ code: "JOIN_UNSATISFIED" });
    const failures = run.jobs.filter((job) => job.step === "work" && job.status === "failed");
    expect(failures.every((job) => job.handled === (status === "completed"))).toBe(true);
  });

  it("the reducer gets null where a branch did not complete, in item order", async () => {
    const run = await joined("any", "fcs");
    expect(run.job("sum").output).toEqual({ kind: "value", value: '[null,"w",null]' });
  });

  it("branches gives key, status and error of each", async () => {
    const seen: unknown[] = [];
    const run = await trial(
      `${LIST}
  sum: { exec: "{{ branches }}", depends_on: work, fanout: reduce, join: any }`,
      {
        list: [{ output: ["a", "b"] }],
        work: (assignment) => (indexOf(assignment) === 0 ? { exit: 9 } : "ok"),
        sum: ({ variables }) => {
          seen.push(variables.branches);
          return "ok";
        },
      },
    );
    expect(run.run.status).toBe("completed");
    const {
      stdout_tail: _o,
      stderr_tail: _e,
      stack_trace: _s,
      cause: _c,
      ...error
    } = run.jobs.find(({ status }) => status === "failed")!.error!;
    expect(error).toMatchObject({
      code: "EXIT_9",
      message: "exit code 9",
      exit_code: 9,
      class: "application",
    });
    expect(seen).toEqual([
      [
        { key: "a", status: "failed", error },
        { key: "b", status: "completed", error: null },
      ],
    ]);
  });

  it("is decided when every branch has settled, not when enough have", async () => {
    const run = await trial(
      `${LIST}
  sum: { exec: make, depends_on: work, fanout: reduce, join: any }`,
      {
        list: [{ output: ["a", "b"] }],
        work: (assignment) => ({ output: null, takesMs: indexOf(assignment) === 0 ? 5 : 50 }),
      },
    );
    expect(run.times.at(-1)).toBe(50);
    expect(run.events("join.decided")).toHaveLength(1);
  });

  it("two reducers of one fan-out count for themselves", async () => {
    const run = await trial(
      `${LIST}
  strict: { exec: make, depends_on: work, fanout: reduce }
  lenient: { exec: make, depends_on: work, fanout: reduce, join: any }`,
      { list: [{ output: ["a", "b"] }], work: (assignment) => (indexOf(assignment) === 0 ? "fail" : "ok") },
    );
    expect(run.job("strict")).toMatchObject({ status: "canceled", error: { code: "JOIN_UNSATISFIED" } });
    expect(run.job("lenient").status).toBe("completed");
  });

  it("a branch with several steps counts once", async () => {
    const run = await trial(
      `${LIST}
  more: { exec: make, depends_on: list }
  sum: { exec: make, depends_on: [work, more], fanout: reduce, join: { at_least: 2 } }`,
      {
        list: [{ output: ["a", "b", "c"] }],
        work: (assignment) => (indexOf(assignment) === 0 ? "fail" : "ok"),
      },
    );
    expect(run.events("join.decided")).toMatchObject([{ satisfied: true, completed: 2, failed: 1 }]);
  });
});

describe("a second generation", () => {
  const text = `routing: { max_loops: 2 }
steps:
  list: { exec: make, forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { retry: { max: 2 } } }
  sum: { exec: "{{ outputs.work }}", depends_on: work, fanout: reduce, on_fail: { goto: list } }`;

  it.each([
    ["fewer", ["a", "b", "c"], ["d"]],
    ["more", ["a"], ["b", "c", "d"]],
    ["as many", ["a", "b"], ["c", "d"]],
    ["no", ["a", "b"], []],
  ])("with %s items than before: only its own branches count", async (_, before, after) => {
    const outputs: unknown[] = [];
    const run = await trial(text, {
      list: [{ output: before }, { output: after }],
      work: ({ variables }) => ({ output: (variables.foreach as { key: string }).key }),
      sum: ({ action }, nth) => {
        outputs.push(JSON.parse(action.exec as string));
        return nth === 1 ? "fail" : "ok";
      },
    });
    expect(outputs).toEqual([before, after]);
    expect(run.events("join.decided").map(({ completed }) => completed)).toEqual([
      before.length,
      after.length,
    ]);
    expect(run.run.status).toBe("completed");
    expect(run.events("scopes.opened").map(({ generation, items }) => [generation, items.length])).toEqual([
      [1, before.length],
      [2, after.length],
    ]);
  });

  it("has fresh budgets", async () => {
    const run = await trial(text, {
      list: [{ output: ["a"] }],
      work: (_, nth) => (nth === 3 || nth === 6 ? "ok" : "fail"),
      sum: ["fail", "ok"],
    });
    expect(run.order).toEqual([
      "list",
      "work[0]",
      "work[0]",
      "work[0]",
      "sum",
      "list",
      "work[0]",
      "work[0]",
      "work[0]",
      "sum",
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("has fresh loop counters in its items", async () => {
    const run = await trial(
      `routing: { max_loops: 1 }
steps:
  list: { exec: make, forEach: true }
  fetch: { exec: "{{ foreach.index }}", depends_on: list }
  work: { exec: "{{ foreach.index }}", depends_on: fetch, on_fail: { goto: fetch } }
  sum: { exec: make, depends_on: work, fanout: reduce, on_fail: { goto: list } }`,
      { list: [{ output: ["a"] }], work: (_, nth) => (nth % 2 === 1 ? "fail" : "ok"), sum: ["fail", "ok"] },
    );
    expect(run.order.filter((step) => step === "work[0]")).toHaveLength(4);
    expect(run.events("goto.taken").map(({ to, loop }) => [to, loop])).toEqual([
      ["fetch", 1],
      ["list", 1],
      ["fetch", 1],
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("ends what still runs in the items of the first", async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true, depends_on: setup }
  setup: { exec: make }
  work: { exec: "{{ foreach.index }}", depends_on: list }
  check: { exec: make, depends_on: setup, on_fail: { goto: setup } }
  sum: { exec: make, depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["a", "b"] }],
        work: (): Outcome => ({ output: null, takesMs: 100 }),
        check: [{ exit: 1, takesMs: 10 }, "ok"],
      },
    );
    expect(run.worker.stopped).toEqual(["work", "work"]);
    expect(run.events("attempt.stopped").map(({ because }) => because)).toEqual(["superseded", "superseded"]);
    expect(run.order.filter((step) => step.startsWith("work"))).toHaveLength(4);
    expect(run.order.filter((step) => step === "sum")).toHaveLength(1);
    expect(run.run.status).toBe("completed");
  });

  it("a goto to a step before an empty fan-out comes forward again to the step that jumped", async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  list: { exec: make, forEach: true }
  work: { exec: make, depends_on: [setup, list] }
  sum: { exec: make, depends_on: work, fanout: reduce, on_fail: { goto: setup } }`,
      { list: [{ output: [] }], sum: ["fail", "ok"] },
      { capacity: 1 },
    );
    expect(trace(run)).toEqual([
      "start setup",
      "ok setup",
      "start list",
      "ok list",
      "join sum met: 0 completed, 0 failed, 0 skipped",
      "start sum",
      "fail sum EXIT_1",
      "climb sum goto",
      "goto sum -> setup after failure, loop 1",
      "again setup sum",
      "join sum met: 0 completed, 0 failed, 0 skipped",
      ...trace(run).slice(11),
    ]);
    expect(run.run.status).toBe("completed");
  });
});
