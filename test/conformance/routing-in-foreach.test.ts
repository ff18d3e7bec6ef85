import { describe, expect, it } from "vitest";
import type { Assignment } from "../../src/run/worker.js";
import { trial } from "../support/harness.js";
import { trace } from "../support/trace.js";

function keyOf({ variables }: Assignment): string {
  return (variables.foreach as { key: string }).key;
}

describe("forEach", () => {
  it("each item counts its own attempts and retries; only the failing ones run again", {
    tags: ["V41", "V45", "V46", "V66", "V76"],
  }, async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { retry: { max: 2, backoff: { delay_ms: 100 } } } }
  sum: { exec: make, depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["a", "b", "c"] }],
        work: (assignment, nth) => (nth <= { a: 0, b: 1, c: 2 }[keyOf(assignment)]! ? "fail" : "ok"),
      },
    );
    expect(run.order).toEqual([
      "list",
      "work[0]",
      "work[1]",
      "work[2]",
      "work[1]",
      "work[2]",
      "work[2]",
      "sum",
    ]);
    expect(run.times).toEqual([0, 0, 0, 0, 100, 100, 200, 200]);
    expect([0, 1, 2].map((index) => run.job("work", `root/list[${index}]`).attempt_id)).toEqual([1, 2, 3]);
    expect(run.events("retry.scheduled").map(({ retry, max }) => `${retry}/${max}`)).toEqual([
      "1/2",
      "1/2",
      "2/2",
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("a goto in one item leaves the others alone", { tags: ["V46", "V66", "V76"] }, async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true }
  fetch: { exec: "{{ foreach.index }}", depends_on: list }
  work: { exec: "{{ foreach.index }}", depends_on: fetch, on_fail: { goto: fetch } }
  sum: { exec: make, depends_on: work, fanout: reduce }`,
      {
        list: [{ output: ["a", "b"] }],
        work: (assignment, nth) =>
          keyOf(assignment) === "a" && nth === 1 ? { exit: 1, takesMs: 5 } : { output: null, takesMs: 20 },
      },
    );
    expect(run.order).toEqual([
      "list",
      "fetch[0]",
      "fetch[1]",
      "work[0]",
      "work[1]",
      "fetch[0]",
      "work[0]",
      "sum",
    ]);
    expect(run.worker.stopped).toEqual([]);
    expect(run.job("work", "root/list[0]").visit).toBe(2);
    expect(run.job("work", "root/list[1]").visit).toBe(1);
    expect(run.job("sum").visit).toBe(1);
  });

  it("an expression decides by foreach", { tags: ["V27", "V49", "V76"] }, async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true }
  fetch: { exec: "{{ foreach.index }}", depends_on: list }
  work: { exec: "{{ foreach.index }}", depends_on: fetch, on_fail: { goto_js: "return foreach.key === 'b' ? 'fetch' : null" } }`,
      { list: [{ output: ["a", "b"] }], work: (_, nth) => (nth === 1 ? "fail" : "ok") },
      { capacity: 1 },
    );
    expect(run.order).toEqual(["list", "fetch[0]", "fetch[1]", "work[0]", "work[1]", "fetch[1]", "work[1]"]);
    expect(run.job("work", "root/list[0]").status).toBe("failed");
    expect(run.job("work", "root/list[1]").status).toBe("completed");
  });

  it.each([
    ["list", "the forEach step"],
    ["setup", "a step before the fan-out"],
  ])(
    "a goto_js to %s, %s, is refused: it lies in another scope",
    { tags: ["V48", "V76"] },
    async (target) => {
      const run = await trial(
        `steps:
  setup: { exec: make }
  list: { exec: make, forEach: true, depends_on: setup }
  work: { exec: make, depends_on: list, on_fail: { goto_js: "return '${target}'" } }`,
        { list: [{ output: ["a"] }], work: ["fail"] },
      );
      expect(run.order.filter((step) => step !== "work")).toEqual(["setup", "list"]);
      const goto = run.events("ladder.climbed")[0]!.considered.find(({ rung }) => rung === "goto");
      expect(goto!.reason).toContain(`${target} is outside the scope root/list[0]`);
    },
  );

  it("a run_js target of another scope is refused, a routed step belongs to each scope that asks", {
    tags: ["V47", "V48"],
  }, async () => {
    const run = await trial(
      `steps:
  setup: { exec: make }
  list: { exec: make, forEach: true, depends_on: setup }
  work: { exec: "{{ foreach.index }}", depends_on: list, on_fail: { run_js: "return ['setup', 'fix']" } }
  fix: { exec: "{{ foreach.index }}", start: routed }
  sum: { exec: make, depends_on: work, fanout: reduce }`,
      { list: [{ output: ["a", "b"] }], work: (_, nth) => (nth === 1 ? "fail" : "ok") },
      { capacity: 1 },
    );
    expect(run.order).toEqual([
      "setup",
      "list",
      "work[0]",
      "work[1]",
      "fix[0]",
      "fix[1]",
      "work[0]",
      "work[1]",
      "sum",
    ]);
    expect(run.events("remediation.started")[0]).toMatchObject({
      steps: ["fix"],
      reason: expect.stringContaining("setup refused: setup is outside the scope root/list[0]"),
    });
    expect(run.job("fix", "root/list[1]")).toMatchObject({ status: "completed", visit: 1 });
    expect(run.job("fix").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
  });

  it.each([
    ["goto", "{ goto: setup }"],
    ["run", "{ run: [setup] }"],
  ])("a static %s across the scope is a load error", { tags: ["V47", "V48", "V83"] }, async (_, onFail) => {
    const text = `steps:
  setup: { exec: make, start: auto }
  list: { exec: make, forEach: true, depends_on: setup }
  work: { exec: make, depends_on: list, on_fail: ${onFail} }`;
    await expect(trial(text)).rejects.toThrow(/CROSS_SCOPE/);
  });

  it("a failing item fails its own branch; independent items finish", { tags: ["V46"] }, async () => {
    const run = await trial(
      `steps:
  list: { exec: make, forEach: true }
  one: { exec: "{{ foreach.index }}", depends_on: list }
  two: { exec: "{{ foreach.index }}", depends_on: one }`,
      { list: [{ output: ["a", "b"] }], one: (assignment) => (keyOf(assignment) === "a" ? "fail" : "ok") },
      { capacity: 1 },
    );
    expect(trace(run)).toEqual([
      "start list",
      "ok list",
      "start one[0]",
      "fail one[0] EXIT_1",
      "climb one[0] fail",
      "failed one[0] EXIT_1",
      "canceled two[0] DEPENDENCY_FAILED",
      "start one[1]",
      "ok one[1]",
      "start two[1]",
      "ok two[1]",
      "run failed EXIT_1",
    ]);
  });
});
