import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const EDGE = "edge: { to: fix, then: fail }";
/** `a` fails for good, `fix` runs because of it, `d` depends on `a`, and `slow` is another branch. */
const flow = (a = "", more = "", edge = EDGE) => `steps:
  a: { exec: "true"${a}, on_fail: { ${edge} } }
  fix: { exec: "true" }
  d: { exec: "true", depends_on: a }
  slow: { exec: "true" }
${more}`;
const SLOW = { slow: [{ output: 1, takesMs: 500 }] } as const;
const took = (ms: number) => [{ output: 1, takesMs: ms }] as const;

describe("then: fail", () => {
  it("climbs no further, however the route ends", async () => {
    const run = await trial(flow("", "unhandled: hold"), { a: ["fail"], fix: ["fail"] });
    expect(run.events("job.held").map(({ job }) => job)).toEqual([run.job("fix").id]);
    expect(run.events("ladder.climbed").filter(({ job }) => job === run.job("a").id)).toMatchObject([
      { rung: "edge" },
    ]);
  });

  it("fails the run also where the step that it led to has failed and that counts for nothing", async () => {
    const text = flow("").replace('fix: { exec: "true"', 'fix: { exec: "true", continue_on_failure: true');
    const run = await trial(text, { a: ["fail"], fix: ["fail"] });
    expect(run.job("fix")).toMatchObject({ handling: { how: "continue_on_failure" } });
    expect(run.run).toMatchObject({ status: "failed", error: { step_id: "a" } });
  });

  it.each(["ok", "fail"] as const)(
    "keeps the steps behind blocked until the route has ended (%s), then cancels them",
    async (end) => {
      const stage = await Stage.begin(flow(), {
        a: ["fail"],
        fix: [end === "ok" ? { output: 1, takesMs: 100 } : { exit: 1, takesMs: 100 }],
        ...SLOW,
      });
      expect((await stage.view()).job("d").status).toBe("blocked");
      await stage.turn();
      // The other branch is still at work.
      expect((await stage.view()).job("slow").status).toBe("running");
      expect((await stage.view()).job("d").status).toBe("canceled");
      expect((await stage.rest()).run).toMatchObject({ status: "failed", error: { step_id: "a" } });
    },
  );

  it("keeps them blocked along the whole way, by whatever edges it goes on", async () => {
    const stage = await Stage.begin(
      `steps:
  a: { exec: "true", on_fail: { ${EDGE} } }
  fix: { exec: "true", on_fail: { edge: { to: last, then: continue } } }
  last: { exec: "true" }
  d: { exec: "true", depends_on: a }`,
      { a: ["fail"], fix: ["fail"], last: took(100) },
    );
    expect((await stage.view()).job("d").status).toBe("blocked");
    const run = await stage.rest();
    expect(run.job("d").status).toBe("canceled");
    expect(run.run).toMatchObject({ status: "failed", error: { step_id: "a" } });
    expect([run.job("a").handled, run.job("fix").handled]).toEqual([false, true]);
  });

  it("is overtaken by a later visit that completes", async () => {
    const run = await trial(
      `steps:
  setup: { exec: "true", start: auto }
  a: { exec: "true", depends_on: setup, on_fail: { edge: { to: fix, then: fail } } }
  fix: { exec: "true" }
  d: { exec: "true", depends_on: a }
  back: { exec: "true", depends_on: setup, on_fail: { goto: { step: setup, max: 1 } } }`,
      { a: ["fail", "ok"], back: [{ exit: 1, takesMs: 100 }, "ok"] },
    );
    expect(run.run.status).toBe("completed");
    expect(run.job("a")).toMatchObject({ status: "completed", visit: 2 });
    expect(run.job("d").status).toBe("completed");
  });

  it("has fail_fast wait for the route, and cancels the rest at once then", async () => {
    const run = await trial(flow("", "failure_policy: fail_fast"), {
      a: ["fail"],
      fix: took(100),
      ...SLOW,
    });
    expect(trace(run)).toEqual([
      "start a",
      "start slow",
      "fail a EXIT_1",
      "climb a edge",
      "failed a EXIT_1",
      "edge 1 a -> fix on failure",
      "start fix",
      "ok fix",
      "settled handled [] unhandled [a]",
      "canceled d DEPENDENCY_FAILED",
      "abandoned root fail_fast",
      "stopped slow fail_fast",
      "run failed EXIT_1",
    ]);
  });

  it("loses the branch of an item, which a join may tolerate", async () => {
    const text = (join: string) => `steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { ${EDGE} } }
  fix: { exec: "true" }
  sum: { exec: "{{ branches }}", depends_on: work, fanout: reduce, join: ${join} }`;
    const script = {
      list: [{ output: ["x", "y"] }],
      work: ({ variables }: { variables: object }) =>
        (variables as { foreach: { index: number } }).foreach.index === 0 ? "fail" : "ok",
    } as const;
    const tolerated = await trial(text("any"), script);
    expect(tolerated.events("join.decided")).toMatchObject([{ satisfied: true, completed: 1, failed: 1 }]);
    expect(tolerated.run.status).toBe("completed");
    const strict = await trial(text("all"), script);
    expect(strict.job("sum")).toMatchObject({ status: "canceled", error: { code: "JOIN_UNSATISFIED" } });
    expect(strict.run).toMatchObject({ status: "failed", error: { code: "EXIT_1", step_id: "work" } });
  });

  it("gives up the rest for an item, with fail_fast, only once no join tolerates it", async () => {
    const text = (join: string) => `failure_policy: fail_fast
steps:
  list: { exec: "true", forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { ${EDGE} } }
  fix: { exec: "true" }
  sum: { exec: "{{ branches }}", depends_on: work, fanout: reduce, join: ${join} }
  slow: { exec: "true" }`;
    const script = {
      list: [{ output: ["x", "y"] }],
      work: ({ variables }: { variables: object }) =>
        (variables as { foreach: { index: number } }).foreach.index === 0
          ? "fail"
          : ({ output: 1, takesMs: 50 } as const),
      slow: [{ output: 1, takesMs: 100, endsWith: 143 }],
    } as const;
    const tolerated = await trial(text("any"), script);
    expect(tolerated.job("slow").status).toBe("completed");
    expect(tolerated.run.status).toBe("completed");
    const strict = await trial(text("all"), script);
    expect(strict.job("slow")).toMatchObject({ status: "canceled", error: { code: "FAIL_FAST" } });
    expect(strict.job("work", "root/list[1]").status).toBe("canceled");
    expect(strict.run).toMatchObject({ status: "failed", error: { code: "EXIT_1", step_id: "work" } });
  });

  it("undoes and finishes the run as any failure does", async () => {
    const run = await trial(
      `finally: [sweep]
steps:
  before: { exec: "true", undo: undo-before }
  a: { exec: "true", depends_on: before, on_fail: { ${EDGE} } }
  fix: { exec: "true" }
  undo-before: { exec: "true" }
  sweep: { exec: "true" }`,
      { a: ["fail"] },
    );
    expect(run.order).toEqual(["before", "a", "fix", "undo-before", "sweep"]);
    expect(run.run).toMatchObject({ status: "failed", error: { code: "EXIT_1", step_id: "a" } });
  });

  it("counts as tried in the failure book, where skip and continue are credited", async () => {
    for (const [then, told] of [
      ["fail", { action: null, tried: ["edge"] }],
      ["skip", { action: "edge", tried: [] }],
      ["continue", { action: "edge", tried: [] }],
    ] as const) {
      const stage = await Stage.begin(flow("", "", `edge: { to: fix, then: ${then} }`), { a: ["fail"] });
      await stage.rest();
      const rows = await stage.store.listUnrolled(null, 100);
      expect(rows.filter(({ kind }) => kind === "ended")).toMatchObject([{ step: "a", ...told }]);
    }
  });
});
