import { describe, expect, it } from "vitest";
import type { HoldAction } from "../../src/core/model/events.js";
import type { Json } from "../../src/core/text/json.js";
import type { Assignment } from "../../src/run/worker.js";
import { endingOf } from "../support/ending-text.js";
import { Stage } from "../support/stage.js";

/** Three steps in a chain, the first two with their undo, and two steps that run at the end. */
const CHAIN = `
finally: [sweep, tell]
steps:
  a: { exec: x, undo: undo-a }
  b: { exec: x, depends_on: a, undo: undo-b }
  c: { exec: x, depends_on: b }
  undo-a: { exec: x }
  undo-b: { exec: x }
  sweep: { exec: x }
  tell: { exec: x }
`;

async function resolve(stage: Stage, step: string, action: HoldAction): Promise<string | null> {
  const item = { job: await stage.id(step), action, output: null, items: null };
  return stage.operate({ type: "holds.resolve", items: [item] });
}

describe("a run that fails", () => {
  it("undoes what completed, newest first, runs finally, and fails as it would have", {
    tags: ["U2"],
  }, async () => {
    const stage = await Stage.begin(CHAIN, { c: ["fail"] });
    const { run, order, routes } = await stage.rest();
    expect(order).toEqual(["a", "b", "c", "undo-b", "undo-a", "sweep", "tell"]);
    expect(await endingOf(stage)).toEqual([
      "run.ending failed",
      "undo.started b a",
      "undo.entered undo-b 1 of b",
      "undo.left b true",
      "undo.entered undo-a 1 of a",
      "undo.left a true",
      "finally.entered sweep 1",
      "finally.entered tell 1",
      "run.failed",
    ]);
    expect([run.status, run.error?.code, run.error?.step_id]).toEqual(["failed", "EXIT_1", "c"]);
    expect(routes.map(({ step, rung, to }) => `${step} ${rung} ${to}`)).toEqual([
      "b undo undo-b",
      "a undo undo-a",
    ]);
  });

  it("undoes nothing where nothing with an undo completed", async () => {
    const stage = await Stage.begin(CHAIN, { a: ["fail"] });
    const { order } = await stage.rest();
    expect(order).toEqual(["a", "sweep", "tell"]);
    expect((await endingOf(stage))[0]).toBe("run.ending failed");
    expect((await stage.view()).jobs.map(({ step }) => step)).not.toContain("undo-a");
  });

  it("keeps what it did where it completes", async () => {
    const stage = await Stage.begin(CHAIN);
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual(["completed", ["a", "b", "c", "sweep", "tell"]]);
    expect(await endingOf(stage)).not.toContain("undo.started c b a");
  });

  it("says nothing of an ending where there is neither an undo nor a finally", async () => {
    const stage = await Stage.begin("{ steps: { a: { exec: x } } }", { a: ["fail"] });
    await stage.rest();
    expect(await endingOf(stage)).toEqual(["run.failed"]);
  });

  it("undoes in the order of completions, not of the file", async () => {
    const text = `{ steps: { a: { exec: x, undo: ua }, b: { exec: x, undo: ub }, z: { exec: x, depends_on: [a, b] }, ua: { exec: x }, ub: { exec: x } } }`;
    const stage = await Stage.begin(text, {
      a: [{ output: 1, takesMs: 50 }],
      b: [{ output: 2, takesMs: 10 }],
      z: ["fail"],
    });
    expect((await stage.rest()).order.slice(-2)).toEqual(["ua", "ub"]);
  });

  it("undoes a job that completed twice by its last completion", { tags: ["U2"] }, async () => {
    const text = `{ steps: {
      a: { exec: x, undo: ua },
      b: { exec: x, depends_on: a, undo: ub },
      d: { exec: x, depends_on: a, undo: ud },
      c: { exec: x, depends_on: [b, d], on_fail: { goto: { step: b, max: 1 } } },
      ua: { exec: x }, ub: { exec: x }, ud: { exec: x } } }`;
    const stage = await Stage.begin(text, { d: [{ output: 1, takesMs: 50 }], c: ["fail"] });
    // At first d completes after b; the goto runs b again, and b alone.
    expect((await stage.rest()).order).toEqual(["a", "b", "d", "c", "b", "c", "ub", "ud", "ua"]);
    expect(await endingOf(stage)).toContain("undo.started b d a");
  });

  it("undoes a job once that completed in several visits, also if the last one was invalidated", {
    tags: ["U2"],
  }, async () => {
    const text = `{ steps: {
      a: { exec: x, undo: ua },
      b: { exec: x, depends_on: a, undo: ub },
      c: { exec: x, depends_on: b, on_fail: { goto: { step: a, max: 1 } } },
      ua: { type: script, content: "return undo" },
      ub: { exec: "x {{ undo.output }} {{ undo.history }} {{ undo.step }}" } } }`;
    const seen: Json[] = [];
    const see = (assignment: Assignment): "ok" => {
      seen.push(assignment.variables.undo ?? String(assignment.action.exec));
      return "ok";
    };
    // The second visit of a does not complete: b completed last, then a in its first visit.
    const stage = await Stage.begin(text, {
      a: [{ output: 1 }, { exit: 1 }],
      b: [{ output: "b1" }],
      c: ["fail"],
      ua: see,
      ub: see,
    });
    const { order } = await stage.rest();
    expect(order).toEqual(["a", "b", "c", "a", "ub", "ua"]);
    expect(seen).toEqual([
      { step: "b", output: "b1", history: ["b1"] },
      { step: "a", output: 1, history: [1] },
    ]);
    expect(await endingOf(stage)).toContain("undo.started b a");
  });

  it("gives the whole history of a step that completed twice", async () => {
    const text = `{ steps: {
      a: { exec: x, undo: ua },
      c: { exec: x, depends_on: a, on_fail: { goto: { step: a, max: 1 } } },
      ua: { type: script, content: "return undo" } } }`;
    const seen: (Json | undefined)[] = [];
    const stage = await Stage.begin(text, {
      a: [{ output: 1 }, { output: 2 }],
      c: ["fail"],
      ua: ({ variables }) => {
        seen.push(variables.undo);
        return "ok";
      },
    });
    expect((await stage.rest()).order).toEqual(["a", "c", "a", "c", "ua"]);
    expect(seen).toEqual([{ step: "a", output: 2, history: [1, 2] }]);
  });

  it("undoes each item of a fan-out in its scope, one at a time", { tags: ["U2"] }, async () => {
    const text = `{ steps: {
      list: { exec: x, forEach: true },
      make: { exec: x, depends_on: list, undo: drop },
      check: { exec: x, depends_on: make, fanout: reduce },
      drop: { type: script, content: "return [foreach.index, undo.output]" } } }`;
    const stage = await Stage.begin(text, {
      list: [{ output: ["x", "y"] }],
      make: [{ output: "made", takesMs: 5 }],
      check: ["fail"],
    });
    const { order } = await stage.rest();
    expect(order.slice(-2)).toEqual(["drop[1]", "drop[0]"]);
    expect(await endingOf(stage)).toEqual([
      "run.ending failed",
      "undo.started make/list[1] make/list[0]",
      "undo.entered drop/list[1] 1 of make/list[1]",
      "undo.left make/list[1] true",
      "undo.entered drop/list[0] 1 of make/list[0]",
      "undo.left make/list[0] true",
      "run.failed",
    ]);
  });

  it("visits an undo step that two steps share once for each, with fresh budgets", async () => {
    const text = `{ failure_handlers: [{ name: h, rules: [{ match_all_exit_codes: true, max_attempts: 2 }] }], steps: {
      a: { exec: x, undo: u }, b: { exec: x, depends_on: a, undo: u }, c: { exec: x, depends_on: b },
      u: { exec: x, failure_handler: h } } }`;
    const stage = await Stage.begin(text, { c: ["fail"], u: ["fail", "ok", "fail", "ok"] });
    const { order } = await stage.rest();
    expect(order).toEqual(["a", "b", "c", "u", "u", "u", "u"]);
    expect((await endingOf(stage)).filter((line) => line.startsWith("undo.entered"))).toEqual([
      "undo.entered u 1 of b",
      "undo.entered u 2 of a",
    ]);
  });

  it("counts an undo whose `if` is false as done: there was nothing to undo", async () => {
    const text = CHAIN.replace("undo-b: { exec: x }", "undo-b: { exec: x, if: undo.output === 'made' }");
    const stage = await Stage.begin(text, { b: [{ output: "nothing" }], c: ["fail"] });
    const { order } = await stage.rest();
    expect(order).toEqual(["a", "b", "c", "undo-a", "sweep", "tell"]);
    expect(await endingOf(stage)).toContain("undo.left b true");
  });

  it("undoes after max_loops ended it, and the undo may still retry", async () => {
    const text = `{ routing: { max_loops: 1 }, steps: {
      a: { exec: x, undo: ua },
      b: { exec: x, depends_on: a, on_fail: { goto: a } },
      ua: { exec: x, on_fail: { retry: { max: 2 } } } } }`;
    const stage = await Stage.begin(text, { b: ["fail"], ua: ["fail", "fail", "ok"] });
    const { order, run } = await stage.rest();
    expect(order).toEqual(["a", "b", "a", "b", "ua", "ua", "ua"]);
    expect(run.error?.code).toBe("LOOP_BUDGET_EXCEEDED");
  });

  it("keeps what it failed with for the steps that finish it", async () => {
    const text = CHAIN.replace(
      "sweep: { exec: x }",
      "sweep: { type: script, content: 'return state._last_error' }",
    );
    let seen: Json | undefined;
    const stage = await Stage.begin(text, {
      c: ["fail"],
      sweep: ({ variables }) => {
        seen = variables.state;
        return "ok";
      },
    });
    await stage.rest();
    expect(seen).toMatchObject({ _last_error: { code: "EXIT_1", step_id: "c" } });
  });
});

describe("an undo that fails", () => {
  it("climbs restart, rule and retry, then is held although nothing says so, and the next wait", {
    tags: ["U3"],
  }, async () => {
    const text = CHAIN.replace("undo-b: { exec: x }", "undo-b: { exec: x, on_fail: { retry: { max: 1 } } }");
    const stage = await Stage.begin(text, { c: ["fail"], "undo-b": ["fail"] });
    const { order, run, events } = await stage.rest();
    expect(order).toEqual(["a", "b", "c", "undo-b", "undo-b"]);
    expect([run.status, await stage.statuses("undo-b")]).toEqual(["held", ["held"]]);
    const climbed = events("ladder.climbed").at(-1)!;
    expect(climbed.rung).toBe("hold");
    expect(climbed.considered.map(({ rung, kind }) => `${rung} ${kind}`)).toEqual([
      "stop does_not_concern",
      "restart does_not_concern",
      "park not_configured",
      "rule not_configured",
      "retry no_retries_left",
      "reset ends_run",
      "remediate ends_run",
      "goto ends_run",
      "edge ends_run",
      "requeue ends_run",
      "hold applies",
    ]);
    expect((await endingOf(stage)).slice(-2)).toEqual(["undo.entered undo-b 1 of b", "run.held"]);
  });

  it("is held after a rule that has no attempts left, too", async () => {
    const text = `{ failure_handlers: [{ name: h, rules: [{ match_all_exit_codes: true, max_attempts: 2 }] }], steps: {
      a: { exec: x, undo: u }, b: { exec: x, depends_on: a }, u: { exec: x, failure_handler: h } } }`;
    const stage = await Stage.begin(text, { b: ["fail"], u: ["fail"] });
    const { run, order } = await stage.rest();
    expect([run.status, order]).toEqual(["held", ["a", "b", "u", "u"]]);
  });

  it("never expires, whatever the file says of holds", { tags: ["U3"] }, async () => {
    const stage = await Stage.begin(`hold: { expires: 1m }\n${CHAIN}`, { c: ["fail"], "undo-b": ["fail"] });
    const { run, job, events } = await stage.rest();
    expect([run.status, job("undo-b").due_at, events("job.held")[0]!.due_at]).toEqual([
      "held",
      null,
      undefined,
    ]);
  });

  it.each([
    ["complete", "true", "completed"],
    ["skip", "false", "skipped"],
    ["fail", "false", "failed"],
  ] as const)(
    "decided by %s counts as undone: %s, and the next goes on",
    { tags: ["U3"] },
    async (action, undone, status) => {
      const stage = await Stage.begin(CHAIN, { c: ["fail"], "undo-b": ["fail"] });
      await stage.rest();
      expect(await resolve(stage, "undo-b", action)).toBeNull();
      await stage.resume();
      const { run, order } = await stage.rest();
      expect(order).toEqual(["a", "b", "c", "undo-b", "undo-a", "sweep", "tell"]);
      expect(await endingOf(stage)).toEqual([
        "run.ending failed",
        "undo.started b a",
        "undo.entered undo-b 1 of b",
        "run.held",
        `hold.resolved undo-b ${action}`,
        `undo.left b ${undone}`,
        "undo.entered undo-a 1 of a",
        "undo.left a true",
        "finally.entered sweep 1",
        "finally.entered tell 1",
        "run.failed",
      ]);
      expect([run.status, run.error?.step_id, ...(await stage.statuses("undo-b"))]).toEqual([
        "failed",
        "c",
        status,
      ]);
    },
  );

  it("runs again when somebody decides so, by resolve or by retry", async () => {
    const stage = await Stage.begin(CHAIN, { c: ["fail"], "undo-b": ["fail", "fail", "ok"] });
    await stage.rest();
    expect(await resolve(stage, "undo-b", "retry")).toBeNull();
    await stage.resume();
    expect((await stage.rest()).run.status).toBe("held");
    expect(await stage.operate({ type: "step.retry", job: await stage.id("undo-b") })).toBeNull();
    await stage.resume();
    const { order, run } = await stage.rest();
    expect(order.slice(3)).toEqual(["undo-b", "undo-b", "undo-b", "undo-a", "sweep", "tell"]);
    expect([run.status, (await endingOf(stage)).filter((line) => line.startsWith("undo.left"))]).toEqual([
      "failed",
      ["undo.left b true", "undo.left a true"],
    ]);
  });

  it("fails instead where failure routing is off", async () => {
    const options = { options: { failure_routing: false } };
    const stage = await Stage.begin(CHAIN, { c: ["fail"], "undo-b": ["fail"] }, options);
    const { run, order } = await stage.rest();
    expect([run.status, order.slice(3)]).toEqual(["failed", ["undo-b", "undo-a", "sweep", "tell"]]);
    expect(await endingOf(stage)).toContain("undo.left b false");
  });

  it("does not fail fast", async () => {
    const text = `failure_policy: fail_fast\n${CHAIN}`;
    const stage = await Stage.begin(text, { c: ["fail"], "undo-b": ["fail"], sweep: ["fail"] });
    await stage.rest();
    await resolve(stage, "undo-b", "fail");
    await stage.resume();
    const { order, events } = await stage.rest();
    expect(order.slice(3)).toEqual(["undo-b", "undo-a", "sweep", "tell"]);
    expect(events("scope.abandoned").map(({ reason }) => reason)).toEqual(["c failed"]);
  });
});

describe("a crash while a run is undone", () => {
  const SLOW = {
    c: ["fail"],
    "undo-b": [{ output: 1, takesMs: 1_000 }],
    "undo-a": [{ output: 1, takesMs: 1_000 }],
  } as const;

  it("goes on at the recorded visit", { tags: ["U7"] }, async () => {
    const stage = await Stage.begin(CHAIN, SLOW);
    await stage.turn(0);
    expect((await endingOf(stage)).at(-1)).toBe("undo.entered undo-b 1 of b");
    stage.kill();
    await stage.resume();
    await stage.turn();
    expect((await endingOf(stage)).at(-1)).toBe("undo.entered undo-a 1 of a");
    stage.kill();
    await stage.resume();
    const { order, events, job } = await stage.rest();
    expect(order).toEqual(["a", "b", "c", "undo-b", "undo-b", "undo-a", "undo-a", "sweep", "tell"]);
    expect(events("restart.granted").length).toBe(2);
    expect([job("undo-b").visit, job("undo-a").visit]).toEqual([1, 1]);
    expect(await endingOf(stage)).toEqual([
      "run.ending failed",
      "undo.started b a",
      "undo.entered undo-b 1 of b",
      "undo.left b true",
      "undo.entered undo-a 1 of a",
      "undo.left a true",
      "finally.entered sweep 1",
      "finally.entered tell 1",
      "run.failed",
    ]);
  });

  it("is held when it has been lost too often, not given up", async () => {
    const stage = await Stage.begin(`max_recoveries: 1\n${CHAIN}`, SLOW);
    for (let lost = 0; lost < 2; lost += 1) {
      stage.kill();
      await stage.resume();
    }
    expect((await stage.rest()).run.status).toBe("held");
  });
});
