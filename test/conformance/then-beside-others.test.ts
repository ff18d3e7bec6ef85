import { describe, expect, it } from "vitest";
import type { HoldDecision } from "../../src/core/model/commands.js";
import type { Json } from "../../src/core/text/json.js";
import { reusableJobs } from "../../src/tell/lookup/fork-source.js";
import { trial, workflow } from "../support/harness.js";
import { findViolations } from "../support/invariants.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const THENS = ["skip", "continue", "fail"] as const;
type Then = (typeof THENS)[number];

/** `a` fails, `fix` runs because of it, and `d` depends on `a`. */
const flow = (then: Then, { fix = "", d = "", top = "" } = {}) => `${top}
steps:
  a: { exec: "true", start: auto, on_fail: { edge: { to: fix, then: ${then} } } }
  fix: { exec: "true"${fix} }
  d: { exec: "{{ outputs.a }}", depends_on: a${d} }`;

/** Without what a climb that leads to the transition has in any case. */
const told = (run: Parameters<typeof trace>[0]) =>
  trace(run).filter((line) => !/^(climb|failed|ok) /.test(line));

const FELL = ["start a", "fail a EXIT_1", "edge 1 a -> fix on failure", "start fix"];

describe("a goto from a step that has consumed the output of a stand-in", () => {
  const BACK = flow("continue", { d: ", on_fail: { goto: { step: a, max: 1 } }" });
  const AROUND = [
    ...FELL,
    ...["stood in a by fix", "start d", "fail d EXIT_1", "goto d -> a after failure 1/1, loop 1"],
    ...["again a d", "start a"],
  ];

  it("has the failed step tried again: its own success counts, the stand-in is left as it is", async () => {
    const run = await trial(BACK, {
      a: ["fail", { output: "own" }],
      fix: [{ output: 1 }],
      d: ["fail", "ok"],
    });
    expect(told(run)).toEqual([...AROUND, "start d", "run completed"]);
    expect(run.job("a")).toMatchObject({ status: "completed", stood_in_by: null, handling: null });
    expect(run.job("a").output).toEqual({ kind: "value", value: "own" });
    expect(run.job("fix").visit).toBe(1);
  });

  it("leads to a new visit of the stand-in where the step fails again", async () => {
    const seen: Json[] = [];
    const run = await trial(BACK, {
      a: ["fail"],
      fix: [{ output: 1 }, { output: 2 }],
      d: ({ variables }) => {
        seen.push(variables.outputs as Json);
        return seen.length === 1 ? "fail" : "ok";
      },
    });
    expect(told(run)).toEqual([
      ...AROUND,
      ...["fail a EXIT_1", "edge 1 a -> fix on failure, again", "again fix", "start fix"],
      ...["stood in a by fix", "start d", "run completed"],
    ]);
    expect(seen).toEqual([{ a: 1 }, { a: 2 }]);
  });

  it("fails the run where nothing stands in the second time, whatever stood in the first", async () => {
    const run = await trial(BACK, { a: ["fail"], fix: [{ output: 1 }, "fail"], d: ["fail"] });
    expect(told(run).slice(-5)).toEqual([
      ...["start fix", "fail fix EXIT_1", "settled handled [] unhandled [a]"],
      ...["canceled d DEPENDENCY_FAILED", "run failed EXIT_1"],
    ]);
    expect(run.job("a")).toMatchObject({ stood_in_by: null, handled: false, output: null });
  });
});

describe("a stand-in that goes back by its own on_success", () => {
  it("stands in with what its last visit gave", async () => {
    const run = await trial(
      `${flow("continue", { fix: ", start: auto, depends_on: pre, on_success: { goto: { step: pre, max: 1 } }" })}
  pre: { exec: "true" }`,
      { a: ["fail"], fix: [{ output: 1 }, { output: 2 }] },
    );
    expect(run.order).toEqual(["a", "pre", "fix", "pre", "fix", "d"]);
    expect(run.job("a")).toMatchObject({ stood_in_by: "fix", output: { value: 2 } });
  });
});

describe("a fallback whose `if` is false", () => {
  it.each(THENS)("has not completed: the failure is not handled (then: %s)", async (then) => {
    const run = await trial(flow(then, { fix: ', if: "false"' }), { a: ["fail"] });
    expect(told(run)).toEqual([
      ...FELL.slice(0, -1),
      ...["evaluated fix if: false", "skipped fix", "settled handled [] unhandled [a]"],
      ...["canceled d DEPENDENCY_FAILED", "run failed EXIT_1"],
    ]);
  });
});

describe("a fallback that is held", () => {
  const decided = async (then: Then, decision: Pick<HoldDecision, "action" | "output">) => {
    const stage = await Stage.begin(flow(then, { top: "unhandled: hold" }), { a: ["fail"], fix: ["fail"] });
    await stage.rest();
    expect(await stage.statuses("a", "fix", "d")).toEqual(["failed", "held", "blocked"]);
    const items = [{ job: await stage.id("fix"), items: null, ...decision }];
    expect(await stage.operate({ type: "holds.resolve", by: "ann", items })).toBeNull();
    return (await stage.resume()).rest();
  };
  const FIVE = { kind: "value", value: 5 } as const;

  it("and completed by a person ends the way as it would itself have done", async () => {
    const complete = { action: "complete", output: FIVE } as const;
    const ends = new Map<Then, string[]>();
    for (const then of THENS) {
      const run = await decided(then, complete);
      ends.set(then, told(run).slice(-3));
      expect(run.job("fix").decided).toEqual({ how: "complete", by: "ann", expired: false });
      expect(run.job("a").output).toEqual(then === "continue" ? FIVE : null);
    }
    expect(Object.fromEntries(ends)).toEqual({
      skip: ["settled handled [a] unhandled []", "skipped d", "run completed"],
      continue: ["stood in a by fix", "start d", "run completed"],
      fail: ["settled handled [] unhandled [a]", "canceled d DEPENDENCY_FAILED", "run failed EXIT_1"],
    });
  });

  it.each(THENS)("and skipped by a person has not completed: the run fails (then: %s)", async (then) => {
    const run = await decided(then, { action: "skip", output: null });
    expect(run.run).toMatchObject({ status: "failed", error: { step_id: "a" } });
    expect(run.job("d").status).toBe("canceled");
  });
});

describe("a fallback whose own failure counts for nothing", () => {
  it("ends the way there, also where a person has it run again and it completes", async () => {
    const text = `${flow("continue", { fix: ", continue_on_failure: true" })}\n  other: { exec: "true", start: auto }`;
    const stage = await Stage.begin(text, {
      a: ["fail"],
      fix: ["fail", { output: 1 }],
      other: [{ output: 0, takesMs: 100 }],
    });
    expect(await stage.statuses("a", "fix", "d")).toEqual(["failed", "failed", "blocked"]);
    expect(await stage.operate({ type: "step.retry", job: await stage.id("fix") })).toBeNull();
    const run = await stage.rest();
    expect(told(run).slice(-4)).toEqual([
      ...["start fix", "settled handled [a] unhandled []", "skipped d", "run completed"],
    ]);
    expect(run.job("a")).toMatchObject({ handled: true, stood_in_by: null });
    expect(findViolations(run.log, workflow(text).definition)).toEqual([]);
  });
});

describe("a run that is canceled while its fallback runs", () => {
  it.each(THENS)(
    "has handled nothing, even if the fallback ends with exit code 0 (then: %s)",
    async (then) => {
      const stage = await Stage.begin(flow(then), {
        a: ["fail"],
        fix: [{ output: 1, takesMs: 100, endsWith: 0 }],
      });
      await stage.operate({ type: "run.cancel" });
      const run = await stage.rest();
      expect(told(run).filter((line) => !line.startsWith("settled"))).toEqual([
        ...FELL,
        ...["abandoned root canceled", "fail fix EXIT_0", "canceled fix RUN_CANCELED", "run canceled"],
      ]);
      expect(run.job("a")).toMatchObject({ handled: false, stood_in_by: null });
      expect([run.job("fix").status, run.job("d").status]).toEqual(["canceled", "canceled"]);
    },
  );
});

describe("a run that is paused while its fallback runs", () => {
  it("has the steps behind ready once it has stood in, and starts them when it goes on", async () => {
    const stage = await Stage.begin(flow("continue"), { a: ["fail"], fix: [{ output: 3, takesMs: 10 }] });
    await stage.operate({ type: "run.pause", takeover: false });
    await stage.turn();
    expect(await stage.statuses("a", "fix", "d")).toEqual(["failed", "completed", "ready"]);
    await stage.rest();
    await stage.operate({ type: "run.unpause" });
    expect(told(await (await stage.resume()).rest())).toEqual([
      ...FELL,
      ...["run paused", "stood in a by fix", "run unpaused", "start d", "run completed"],
    ]);
  });
});

describe("two failures that lead to one fallback", () => {
  it("each end as their own transition says, with the visit that they led to", async () => {
    const run = await trial(
      `${flow("continue")}
  b: { exec: "true", on_fail: { edge: { to: fix, then: skip } } }
  e: { exec: "true", depends_on: b }`,
      { a: ["fail"], b: [{ exit: 1, takesMs: 10 }], fix: [{ output: 1, takesMs: 5 }, { output: 2 }] },
    );
    expect(run.order).toEqual(["a", "b", "fix", "d", "fix"]);
    expect(run.job("a")).toMatchObject({ handling: { by: "fix", then: "continue" }, output: { value: 1 } });
    expect(run.job("b")).toMatchObject({ handling: { by: "fix", then: "skip" }, output: null });
    expect(run.job("e")).toMatchObject({ status: "skipped", skipped_by: run.job("b").id });
    expect(run.run.status).toBe("completed");
  });
});

describe("`then` beside", () => {
  it("`on: any` says nothing of a success", async () => {
    for (const then of THENS) {
      const text = `steps: { a: { exec: "true" }, fix: { exec: "true" }, d: { exec: "true", depends_on: a } }
transitions: [{ from: a, to: fix, on: any, then: ${then} }]`;
      const run = await trial(text);
      expect([run.run.status, run.job("d").status]).toEqual(["completed", "completed"]);
    }
  });

  it("fail_if: what was judged is not what the steps behind see", async () => {
    const text = flow("continue").replace("start: auto", 'fail_if: "output.ok === false"');
    const run = await trial(text, { a: [{ output: { ok: false } }], fix: [{ output: { n: 4 } }] });
    expect(run.job("a")).toMatchObject({ error: { code: "FAIL_IF" }, output: { value: { n: 4 } } });
    expect(run.job("d").status).toBe("completed");
  });

  it("a forEach step in an item: its stand-in's list is that of the item", async () => {
    const run = await trial(
      `steps:
  list: { exec: "true", forEach: true }
  inner: { exec: "{{ foreach.key }}", depends_on: list, forEach: true, on_fail: { edge: { to: fix, then: continue } } }
  fix: { exec: "true" }
  leaf: { exec: "{{ foreach.key }}", depends_on: inner }
  sum: { exec: "{{ branches }}", depends_on: leaf, fanout: reduce }`,
      { list: [{ output: ["x", "y"] }], inner: ["fail"], fix: [{ output: ["p"] }] },
    );
    expect(run.run.status).toBe("completed");
    expect(run.events("job.stood_in").map(({ items }) => items)).toEqual([[{ key: "p" }], [{ key: "p" }]]);
    expect(run.jobs.filter(({ step, status }) => step === "leaf" && status === "completed")).toHaveLength(2);
  });

  it("a finally step that fails: the run has failed although its failure was handled", async () => {
    const text = `${flow("continue", { top: "finally: [z]" })}\n  z: { exec: "true" }`;
    const run = await trial(text, { a: ["fail"], z: ["fail"] });
    expect(run.order).toEqual(["a", "fix", "d", "z"]);
    expect(run.run).toMatchObject({ status: "failed", error: { step_id: "z" } });
  });
});

describe("an item that is past, because its list was made again", () => {
  it("is neither handled nor skipped for a failure in what is told of the run", async () => {
    const run = await trial(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { edge: { to: fix } } }
  fix: { exec: "true" }
  more: { exec: "true", depends_on: work }
  sum: { exec: "{{ branches }}", depends_on: more, fanout: reduce, join: any, on_fail: { goto: { step: list, max: 1 } } }`,
      {
        list: [{ output: ["x", "y"] }, { output: ["x"] }],
        work: ({ variables }) => ((variables.foreach as { index: number }).index === 1 ? "fail" : "ok"),
        sum: ["fail", "ok"],
      },
    );
    expect(run.run).toMatchObject({ status: "completed", tally: { handled: 0, concern: null } });
    const past = run.jobs.filter(({ scope }) => scope === "root/list[1]");
    expect(past.map(({ step, status, skipped_by }) => [step, status, skipped_by])).toEqual([
      ["work", "skipped", null],
      ["more", "skipped", null],
      ["fix", "skipped", null],
    ]);
  });
});

describe("a fork of a run that has past items", () => {
  it.each(["skip", "continue"])("does nothing again for their failures (then: %s)", async (then) => {
    const stage = await Stage.begin(
      `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { edge: { to: fix, then: ${then} } } }
  fix: { exec: "true" }
  sum: { exec: "{{ branches }}", depends_on: work, fanout: reduce, join: any, on_fail: { goto: { step: list, max: 1 } } }
  last: { exec: "true", depends_on: sum }`,
      {
        list: [{ output: ["x", "y"] }, { output: ["x"] }],
        work: ({ variables }) => ((variables.foreach as { index: number }).index === 1 ? "fail" : "ok"),
        sum: ["fail", "ok"],
      },
    );
    await stage.rest();
    const { live } = stage;
    expect(reusableJobs(live!, "last", live!.graph).map(({ step }) => step.definition.id)).toEqual([
      "list",
      "sum",
      "work",
    ]);
  });
});

describe("jobs of the batch form", () => {
  const jobs = (then: string, d = "") => `jobs:
  - { name: a, command: x, on_fail: { edge: { to: fix${then} } } }
  - { name: fix, command: x }
  - { name: d, command: x, depends_on: [a]${d} }`;

  it.each([
    ["", "completed", "skipped"],
    [", then: continue", "completed", "completed"],
    [", then: fail", "failed", "canceled"],
  ])("say what becomes of a failure as steps do, and none of them is held (%s)", async (then, end, d) => {
    const run = await trial(jobs(then), { a: ["fail"] });
    expect([run.run.status, run.job("d").status]).toEqual([end, d]);
    expect(run.events("job.held")).toEqual([]);
  });

  it("that run in any case run whatever the transition says", async () => {
    for (const then of ["", ", then: continue", ", then: fail"]) {
      const run = await trial(jobs(then, ", cancel_on_blocking_job_failure: false"), { a: ["fail"] });
      expect([then, run.job("d").status]).toEqual([then, "completed"]);
    }
  });
});
