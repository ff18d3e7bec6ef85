import { describe, expect, it } from "vitest";
import { exitCodeOfStatus } from "../../src/cli/terminal/exit-codes.js";
import { buildReport } from "../../src/tell/run-report.js";
import { trial } from "../support/harness.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";
import { definitionOf, problemsOf, summaryOf } from "../support/workflow-text.js";

const flow = (transitions: string, a = "") => `steps:
  a: { exec: "true"${a} }
  fix: { exec: "true" }
  other: { exec: "true", start: routed }
  d: { exec: "true", depends_on: a }
transitions: [${transitions}]`;
const EDGE = "{ from: a, to: fix, on: failure }";
/** Nobody has looked at the edges. */
const NOT_TRIED = {
  attempted: false,
  selected_edge_id: null,
  target_node_id: null,
  target_node_key: null,
  status: "no_route",
  considered: [],
};

describe("failure edges", () => {
  it("no retries and a failure edge: the target runs, the failure is handled, the run completed", {
    tags: ["A2", "A10", "A26"],
  }, async () => {
    const run = await trial(flow(EDGE), { a: ["fail"] });
    expect(trace(run)).toEqual([
      "start a",
      "fail a EXIT_1",
      "climb a edge",
      "failed a EXIT_1",
      "edge 1 a -> fix on failure",
      "start fix",
      "ok fix",
      "settled handled [a] unhandled []",
      "skipped d",
      "skipped other",
      "run completed",
    ]);
    expect(run.job("a")).toMatchObject({ status: "failed", handled: true });
    expect(run.job("d").status).toBe("skipped");
    expect(exitCodeOfStatus(run.run.status)).toBe(0);
    expect(buildReport(run.run, run.jobs, run.routes).handled_failures).toMatchObject([
      { step: "a", code: "EXIT_1" },
    ]);
  });

  it("the edge is tried only when no retry is left", { tags: ["A4", "A27"] }, async () => {
    const retried = await trial(flow(EDGE, ", on_fail: { retry: { max: 2 } }"), { a: ["fail"] });
    expect(retried.order).toEqual(["a", "a", "a", "fix"]);
    expect(
      retried
        .events("ladder.climbed")
        .map(({ rung, failure_route: failureRoute }) => [rung, failureRoute?.status ?? null]),
    ).toEqual([
      ["retry", null],
      ["retry", null],
      ["edge", "selected"],
    ]);
    const recovered = await trial(flow(EDGE, ", on_fail: { retry: { max: 2 } }"), { a: ["fail", "ok"] });
    expect(recovered.order).toEqual(["a", "a", "d"]);
  });

  it("without a failure edge the run fails as before", { tags: ["A3", "A28"] }, async () => {
    const run = await trial(flow(""), { a: ["fail"], other: ["ok"] });
    expect(run.job("d").status).toBe("canceled");
    expect(run.run).toMatchObject({ status: "failed", error: { code: "EXIT_1" } });
    expect(run.events("ladder.climbed")[0]!.failure_route).toMatchObject({
      attempted: false,
      status: "no_route",
      selected_edge_id: null,
    });
    expect(exitCodeOfStatus(run.run.status)).toBe(1);
  });

  it("a failure whose handler fails is unhandled: the run fails and its dependents are canceled", {
    tags: ["A10", "A11"],
  }, async () => {
    const run = await trial(flow(EDGE), { a: ["fail"], fix: ["fail"] });
    expect(run.run.status).toBe("failed");
    expect(run.job("a").handled).toBe(false);
    expect(run.job("d").status).toBe("canceled");
    expect(trace(run)).toContain("settled handled [] unhandled [a]");
  });

  it("a completed source tries success edges only, a failed one failure edges only", {
    tags: ["A5", "A12"],
  }, async () => {
    const both = `${EDGE}, { from: a, to: other, on: success }`;
    const failed = await trial(flow(both), { a: ["fail"] });
    expect(failed.order).toEqual(["a", "fix"]);
    const fine = await trial(flow(both));
    expect(fine.order.toSorted()).toEqual(["a", "d", "other"]);
    expect(fine.job("fix").status).toBe("skipped");
  });

  it("routeOn and route_on are read; without either an edge is for success", {
    tags: ["A1", "A6", "A34"],
  }, () => {
    const [first, second, third] = definitionOf(
      flow(
        "{ from: a, to: fix, routeOn: failure }, { from: a, to: other, route_on: any }, { from: fix, to: other }",
      ),
    ).transitions;
    expect([first!.on, second!.on, third!.on]).toEqual(["failure", "any", "success"]);
    expect(summaryOf(flow("{ from: a, to: fix, routeOn: sometimes }"))[0]).toContain("INVALID_VALUE");
  });

  it("of several failure edges the first by priority is taken, whatever their order in the file", {
    tags: ["A7", "A31"],
  }, async () => {
    const run = await trial(
      flow(
        "{ from: a, to: other, on: failure, priority: 2 }, { from: a, to: fix, on: failure, priority: 1 }",
      ),
      { a: ["fail"] },
    );
    expect(run.order).toEqual(["a", "fix"]);
    expect(run.events("edge.taken")).toMatchObject([
      { edge: 2, to: "fix", considered: [{ edge: 2, matched: true, why: "unconditional" }] },
    ]);
    expect(run.job("other").status).toBe("skipped");
  });

  it("`on: any` stands among the candidates of both outcomes", { tags: ["A7"] }, async () => {
    const edges =
      "{ from: a, to: other, on: any, priority: 1 }, { from: a, to: fix, on: failure, priority: 2 }";
    expect((await trial(flow(edges), { a: ["fail"] })).order).toEqual(["a", "other"]);
    expect((await trial(flow(edges))).order.toSorted()).toEqual(["a", "d", "other"]);
  });

  it("priority is unique by source and outcome; `any` counts for both", { tags: ["A9"] }, () => {
    const twice = (first: string, second: string) =>
      problemsOf(
        flow(
          `{ from: a, to: fix, on: ${first}, priority: 1 }, { from: a, to: other, on: ${second}, priority: 1 }`,
        ),
      ).length;
    expect(twice("failure", "failure")).toBe(1);
    expect(twice("any", "success")).toBe(1);
    expect(twice("success", "failure")).toBe(0);
  });

  it("a source that is skipped or canceled selects no edge", { tags: ["A8"] }, async () => {
    const run = await trial(
      `steps:
  bad: { exec: "true" }
  never: { exec: "true", if: "false" }
  behind: { exec: "true", depends_on: bad }
  x: { exec: "true" }
  y: { exec: "true" }
transitions:
  - { from: never, to: x, on: any }
  - { from: behind, to: y, on: any }`,
      { bad: ["fail"] },
    );
    expect(run.order).toEqual(["bad"]);
    expect(run.events("edge.taken")).toEqual([]);
    expect([run.job("x").status, run.job("y").status]).toEqual(["skipped", "skipped"]);
  });

  it("nor does one that waits or runs: its edges are tried when it has ended", { tags: ["A8"] }, async () => {
    const stage = await Stage.begin(
      `steps: { first: { exec: "true" }, a: { exec: "true", depends_on: first }, x: { exec: "true" } }
transitions: [{ from: a, to: x, on: any }]`,
      { first: [{ output: null, takesMs: 10 }], a: [{ output: null, takesMs: 10 }] },
    );
    expect(await stage.statuses("a", "x")).toEqual(["blocked", "blocked"]);
    await stage.turn();
    expect(await stage.statuses("a", "x")).toEqual(["running", "blocked"]);
    expect((await stage.view()).events("edge.taken")).toEqual([]);
    const run = await stage.rest();
    expect(run.order).toEqual(["first", "a", "x"]);
    expect(run.events("edge.taken")).toHaveLength(1);
  });

  it("the failed attempt is on record before the edge is taken", { tags: ["A13"] }, async () => {
    const run = await trial(flow(EDGE), { a: ["fail"] });
    const seqOf = (type: string) => run.log.find(({ event }) => event.type === type)!.seq;
    expect(seqOf("attempt.failed")).toBeLessThan(seqOf("edge.taken"));
    expect(seqOf("job.failed")).toBeLessThan(seqOf("edge.taken"));
  });

  it("failureRoute names the edge by its place, the target's job and step, and every edge considered", {
    tags: ["A15", "A16"],
  }, async () => {
    const run = await trial(
      flow(
        "{ from: a, to: other, on: failure, when: { type: exists, field: outputs.fix } }, { from: a, to: fix, on: failure }",
      ),
      { a: ["fail"] },
    );
    expect(run.events("ladder.climbed")[0]!.failure_route).toEqual({
      attempted: true,
      selected_edge_id: 2,
      target_node_id: run.job("fix").id,
      target_node_key: "fix",
      status: "selected",
      considered: [
        { edge: 1, to: "other", matched: false, why: "outputs.fix does not exist" },
        { edge: 2, to: "fix", matched: true, why: "unconditional" },
      ],
    });
  });

  it("an edge releases a step that never ran whatever it depends on", { tags: ["A2"] }, async () => {
    const run = await trial(
      `steps:
  a: { exec: "true" }
  slow: { exec: "true" }
  late: { exec: "true", depends_on: slow }
transitions: [{ from: a, to: late, on: failure }]`,
      { a: ["fail"], slow: [{ output: null, takesMs: 100 }] },
    );
    expect(run.order).toEqual(["a", "slow", "late"]);
    expect(run.times).toEqual([0, 0, 0]);
    expect(run.run.status).toBe("completed");
  });

  it("an edge to a step that is ready or running is recorded as already scheduled, and counts on it", {
    tags: ["A12"],
  }, async () => {
    const run = await trial(
      `steps: { a: { exec: "true" }, busy: { exec: "true", start: auto } }
transitions: [{ from: a, to: busy, on: failure }]`,
      { a: [{ exit: 1, takesMs: 10 }], busy: [{ output: null, takesMs: 100 }] },
    );
    expect(run.order).toEqual(["a", "busy"]);
    expect(run.events("edge.taken")).toMatchObject([{ status: "already_scheduled", counted: false }]);
    expect(run.events("ladder.climbed")[0]!.failure_route?.status).toBe("already_scheduled");
    expect(run.run.status).toBe("completed");
    expect(run.job("a").handled).toBe(true);
  });

  it("continue_on_failure and an edge: the target runs and the dependents go on as well", {
    tags: ["A2"],
  }, async () => {
    const run = await trial(flow(EDGE, ", continue_on_failure: true"), { a: ["fail"] });
    expect(run.order.toSorted()).toEqual(["a", "d", "fix"]);
    expect(run.run.status).toBe("completed");
  });

  it("success edges are control flow: the target runs once, the rest is skipped", {
    tags: ["A5"],
  }, async () => {
    const run = await trial(
      `steps:
  build: { exec: "true" }
  small: { exec: "true" }
  large: { exec: "true" }
  after: { exec: "true", depends_on: large }
transitions:
  - { from: build, to: small, when: { type: comparison, operator: "<", left: outputs.build.size, right: 10 } }
  - { from: build, to: large }`,
      { build: [{ output: { size: 50 } }] },
    );
    expect(run.order).toEqual(["build", "large", "after"]);
    expect(run.job("small").status).toBe("skipped");
    expect(run.run.status).toBe("completed");
  });
});

describe("paused, canceled and single-step runs", () => {
  const slow = { a: [{ exit: 1, takesMs: 100 }] } as const;

  it("a paused run stays paused while the target is scheduled, and runs it once resumed", {
    tags: ["A22", "A29"],
  }, async () => {
    const stage = await Stage.begin(flow(EDGE), slow);
    await stage.operate({ type: "run.pause", takeover: false });
    const paused = await stage.rest();
    expect(paused.run.status).toBe("paused");
    expect(paused.job("fix").status).toBe("ready");
    expect(paused.events("edge.taken")).toHaveLength(1);
    expect(paused.order).not.toContain("fix");
    expect(exitCodeOfStatus(paused.run.status)).toBe(3);
    const run = await (await stage.resume()).rest();
    expect(run.order).toContain("fix");
    expect(run.run.status).toBe("completed");
  });

  it("a failure that a cancel meets is recorded with skipped_terminal, and no route is taken", {
    tags: ["A16", "A23", "A30"],
  }, async () => {
    const stage = await Stage.begin(flow(EDGE, ", on_fail: { retry: { max: 3 } }"), {
      a: [{ output: null, takesMs: 100, endsWith: 7 }],
    });
    await stage.operate({ type: "run.cancel" });
    const run = await stage.rest();
    expect(trace(run)).toEqual([
      "start a",
      "abandoned root canceled",
      "fail a EXIT_7",
      "climb a stop",
      "canceled a RUN_CANCELED",
      "run canceled",
    ]);
    expect(run.events("ladder.climbed")).toMatchObject([
      {
        attempt: 1,
        rung: "stop",
        considered: [{ rung: "stop", applied: true, kind: "applies", reason: "the run is canceled" }],
        failure_route: {
          attempted: false,
          selected_edge_id: null,
          target_node_id: null,
          target_node_key: null,
          status: "skipped_terminal",
          considered: [],
        },
      },
    ]);
    expect(await stage.store.readAttempts(stage.runId)).toMatchObject([
      { status: "failed", error: { code: "EXIT_7" } },
    ]);
    expect(run.job("a")).toMatchObject({ status: "canceled", handled: false });
    expect(exitCodeOfStatus(run.run.status)).toBe(4);
  });

  it("an attempt that has not failed but was ended by the cancel is stopped, and climbs nothing", {
    tags: ["A23", "A30"],
  }, async () => {
    const stage = await Stage.begin(flow(EDGE), slow);
    await stage.operate({ type: "run.cancel" });
    const run = await stage.rest();
    expect(trace(run)).toEqual(["start a", "abandoned root canceled", "stopped a canceled", "run canceled"]);
    expect(run.run.status).toBe("canceled");
  });

  it("single-step mode makes one attempt; the edge is not followed", { tags: ["A24"] }, async () => {
    const run = await trial(
      flow(EDGE, ", on_fail: { retry: { max: 3 } }"),
      { a: ["fail"] },
      { options: { only: "a" } },
    );
    expect(run.order).toEqual(["a"]);
    expect(run.job("fix").status).toBe("skipped");
    expect(run.run.status).toBe("failed");
    expect(run.events("ladder.climbed")[0]!.failure_route).toEqual(NOT_TRIED);
  });

  it("with failure routing off, and for a repair step, no edge counts as tried or matched", {
    tags: ["A15", "A16"],
  }, async () => {
    const off = await trial(flow(EDGE), { a: ["fail"] }, { options: { failure_routing: false } });
    expect(off.events("ladder.climbed")[0]).toMatchObject({ rung: "fail", failure_route: NOT_TRIED });
    const repair = await trial(
      `steps:
  a: { exec: "true", on_fail: { run: [fix] } }
  fix: { exec: "true" }
  other: { exec: "true", start: routed }
transitions: [{ from: fix, to: other, on: failure }]`,
      { a: ["fail"], fix: ["fail"] },
    );
    const climbs = repair.events("ladder.climbed");
    expect(climbs.map(({ rung, failure_route: failureRoute }) => [rung, failureRoute])).toEqual([
      ["remediate", null],
      ["fail", NOT_TRIED],
    ]);
  });

  it("edges that were tried before the failure went back into the queue are told as no_route", {
    tags: ["A16"],
  }, async () => {
    const run = await trial(
      flow(
        "{ from: a, to: fix, on: failure, when: { type: in_set, field: error.code, values: [EXIT_9] } }",
      ).replace("steps:", "queue: { max_attempts: 2, classes: [transient_runtime] }\nsteps:"),
      { a: [{ facts: { httpStatus: 503, message: "busy" } }, "ok"] },
    );
    expect(run.events("ladder.climbed")).toMatchObject([
      {
        rung: "requeue",
        failure_route: { attempted: true, status: "no_route", considered: [{ edge: 1, matched: false }] },
      },
    ]);
  });

  it("an operator's retry starts afresh, and the retried step may take its edge later", {
    tags: ["A25"],
  }, async () => {
    const stage = await Stage.begin(
      flow("{ from: a, to: fix, on: failure, when: { type: in_set, field: error.code, values: [EXIT_2] } }"),
      {
        a: [{ exit: 1 }, { exit: 2 }],
      },
    );
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("a") })).toBeNull();
    const run = await (await stage.resume()).rest();
    expect(run.order.filter((step) => step !== "other")).toEqual(["a", "a", "fix"]);
    expect(run.run.status).toBe("completed");
  });
});
