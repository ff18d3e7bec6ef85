import { describe, expect, it } from "vitest";
import { trial } from "../support/harness.js";
import { checkpointed } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const same = { exit: 1, stderr: "the test fails", diffHash: "d1" };
const HEAL = "workspace: {}\nself_heal: true";
const file = (steps: string, ...keys: string[]): string =>
  `name: control\n${keys.join("\n")}\nsteps:\n${steps}\n`;
const TWO = "  plan: { exec: plan }\n  edit: { exec: edit, depends_on: [plan] }";
const stuck = { plan: [checkpointed("plan")], edit: [same, same, checkpointed("edit")] };

describe("cancel, pause and crash around resets", () => {
  it("cancels in the middle of a reset: nothing is tried again", { tags: ["M21"] }, async () => {
    const stage = await Stage.begin(file(TWO, HEAL), stuck, { rebuilds: [{ takesMs: 1000 }] });
    expect(await stage.statuses("edit")).toEqual(["recovering"]);
    await stage.operate({ type: "run.cancel" });
    const run = await stage.rest();
    expect(trace(run).slice(-4)).toEqual([
      "rebuild 1 for edit from [1]",
      "abandoned root canceled",
      "discarded 1",
      "run canceled",
    ]);
    expect(stage.workspaces.discarded).toEqual([1]);
    expect(run.job("edit").status).toBe("canceled");
  });

  it("lets a reset end while the run is paused, and starts the attempt only when the pause is lifted", {
    tags: ["M22"],
  }, async () => {
    const stage = await Stage.begin(file(TWO, HEAL), stuck, { rebuilds: [{ takesMs: 1000 }] });
    await stage.operate({ type: "run.pause", takeover: false });
    const paused = await stage.rest();
    expect(paused.job("edit").status).toBe("ready");
    expect(paused.order).toEqual(["plan", "edit", "edit"]);
    await stage.resume();
    expect((await stage.rest()).order).toEqual(["plan", "edit", "edit", "edit"]);
  });

  it("pauses between attempts: a reset that is decided meanwhile begins when the pause is lifted", {
    tags: ["M22"],
  }, async () => {
    const stage = await Stage.begin(file(TWO, HEAL), {
      ...stuck,
      edit: [same, { ...same, takesMs: 100 }, checkpointed("edit")],
    });
    await stage.operate({ type: "run.pause", takeover: false });
    const paused = await stage.rest();
    expect(paused.job("edit").status).toBe("recovering");
    expect(stage.workspaces.asked).toEqual([]);
    await stage.resume();
    const run = await stage.rest();
    expect(stage.workspaces.asked).toEqual([{ rebuild: 1, replay: [1] }]);
    expect(run.run.status).toBe("completed");
  });

  it("builds again after a crash in the middle of a reset, and goes on", async () => {
    const stage = await Stage.begin(file(TWO, HEAL), stuck, { rebuilds: [{ takesMs: 1000 }] });
    stage.kill();
    await stage.resume();
    const run = await stage.rest();
    expect(trace(run).slice(-6)).toEqual([
      "rebuild 1 for edit from [1] try 2",
      "rebuilt 1 ok",
      "start edit",
      "ok edit",
      "promoted 1",
      "run completed",
    ]);
    expect(run.run.status).toBe("completed");
  });

  it("gives a reset up that is lost with its engine again and again", async () => {
    const stage = await Stage.begin(file(TWO, HEAL, "max_recoveries: 2"), stuck, {
      rebuilds: [{ takesMs: 1000 }],
    });
    for (let crash = 0; crash < 3; crash += 1) {
      stage.kill();
      await stage.resume();
    }
    const run = await stage.rest();
    expect(stage.workspaces.asked).toHaveLength(3);
    expect(trace(run).slice(-4)).toEqual([
      "rebuilt 1 failed",
      "climb edit fail",
      "failed edit EXIT_1",
      "run failed EXIT_1",
    ]);
  });

  it("leaves the old workspace and climbs on where the fresh one cannot be built", async () => {
    const run = await trial(
      file(
        `${TWO.replace("edit: { exec: edit,", "edit: { exec: edit, on_fail: { retry: { max: 2 } },")}\n  help: { exec: help }`,
        HEAL,
        "transitions: [{ from: edit, to: help, on: failure }]",
      ),
      stuck,
      { rebuilds: ["fail"] },
    );
    expect(run.order).toEqual(["plan", "edit", "edit", "help"]);
    expect(run.events("workspace.promoted")).toEqual([]);
    expect(run.run.status).toBe("completed");
  });
});

describe("the steps of a workspace", () => {
  it("run one at a time, beside the others", async () => {
    const slow = { output: null, takesMs: 100 };
    const run = await trial(
      file(
        "  a: { exec: a }\n  b: { exec: b }\n  c: { exec: c, workspace: false }\n  d: { type: noop }",
        "workspace: {}",
      ),
      { a: [slow], b: [slow], c: [slow], d: [slow] },
    );
    expect(run.order).toEqual(["a", "c", "d", "b"]);
    expect(run.times).toEqual([0, 0, 0, 100]);
  });

  it("wait for one that is being tried out in a fresh workspace, its soft resets included", async () => {
    const run = await trial(
      file(
        "  a: { exec: a, on_fail: { retry: { max: 4, backoff: { delay_ms: 50 } } } }\n  b: { exec: b }",
        HEAL,
      ),
      { a: [same, same, { exit: 2, stderr: "new" }, checkpointed("a")], b: [checkpointed("b")] },
    );
    expect(run.order).toEqual(["a", "a", "a", "a", "b"]);
    expect(trace(run).slice(-5)).toEqual(["ok a", "promoted 1", "start b", "ok b", "run completed"]);
    const { order } = await trial(
      file("  a: { exec: a }\n  b: { exec: b, depends_on: [] }", HEAL),
      { a: [same, same, { output: null, takesMs: 10 }], b: [checkpointed("b")] },
      { rebuilds: [{ takesMs: 100 }] },
    );
    expect(order).toEqual(["a", "a", "a", "b"]);
  });

  it("go back with a goto: what was done since is not replayed, and nothing starts before", async () => {
    const run = await trial(
      file(
        "  setup: { exec: setup }\n  plan: { exec: plan, depends_on: [setup] }\n  edit: { exec: edit, depends_on: [plan], on_fail: { goto: plan } }",
        "workspace: {}",
      ),
      { setup: [checkpointed("setup")], plan: [checkpointed("plan")], edit: [same, checkpointed("edit")] },
      { rebuilds: [{ takesMs: 500 }] },
    );
    expect(trace(run)).toEqual([
      "start setup",
      "ok setup",
      "start plan",
      "ok plan",
      "start edit",
      "fail edit EXIT_1",
      "climb edit goto",
      "goto edit -> plan after failure, loop 1",
      "rebuild 1 for plan from [1]",
      "rebuilt 1 ok",
      "promoted 1",
      "again plan edit",
      "start plan",
      "ok plan",
      "start edit",
      "ok edit",
      "run completed",
    ]);
    expect(run.events("attempt.succeeded").map(({ checkpoint }) => checkpoint?.ordinal)).toEqual([
      1, 2, 3, 4,
    ]);
    expect(run.times.slice(3)).toEqual([500, 500]);
  });

  it("replay checkpoints in the order of their ordinals, without those that a goto has superseded", {
    tags: ["M18", "M37"],
  }, async () => {
    const run = await trial(
      file(
        "  setup: { exec: setup }\n  plan: { exec: plan, depends_on: [setup] }\n  edit: { exec: edit, depends_on: [plan], on_fail: { goto: plan, retry: { max: 1 } } }",
        HEAL.replace("true", "{ step_no_progress_limit: 1, job_self_heal_max_resets: 2 }"),
      ),
      {
        setup: [checkpointed("setup")],
        plan: [checkpointed("plan"), checkpointed("another plan")],
        edit: [same, same, same, checkpointed("edit")],
      },
    );
    expect(run.events("rebuild.started").map(({ replay }) => replay)).toEqual([[1, 2], [1], [1, 3]]);
  });

  it("fail at the goto's target where the workspace cannot be taken back", async () => {
    const run = await trial(
      file(
        "  plan: { exec: plan }\n  edit: { exec: edit, depends_on: [plan], on_fail: { goto: plan } }",
        "workspace: {}",
      ),
      { plan: [checkpointed("plan")], edit: [same] },
      { rebuilds: ["fail"] },
    );
    expect(trace(run).slice(-5)).toEqual([
      "rebuilt 1 failed",
      "again plan edit",
      "failed plan RESET_FAILED",
      "canceled edit DEPENDENCY_FAILED",
      "run failed RESET_FAILED",
    ]);
  });
});

describe("hard_reset_step and resume_from_step", () => {
  it("resets a failed step of a run that is over, with budgets anew", async () => {
    const stage = await Stage.begin(file(TWO, HEAL), { ...stuck, edit: [same, same, same, "ok"] });
    expect((await stage.rest()).run.status).toBe("failed");
    expect(await stage.operate({ type: "step.hard_reset", job: await stage.id("edit") })).toBeNull();
    await stage.resume();
    const run = await stage.rest();
    expect(run.run.status).toBe("completed");
    expect(run.job("edit").visit).toBe(2);
    expect(run.events("workspace.promoted")).toHaveLength(1);
  });

  it("resets a step that waits for its retry at once, at no cost to the run's resets", {
    tags: ["M25"],
  }, async () => {
    const stage = await Stage.begin(
      file(TWO.replace("edit, d", "edit, on_fail: { retry: { backoff: { delay_ms: 60s } } }, d"), HEAL),
      { edit: [same, "ok"] },
    );
    expect(await stage.statuses("edit")).toEqual(["waiting"]);
    expect(await stage.operate({ type: "step.hard_reset", job: await stage.id("edit") })).toBeNull();
    const run = await stage.rest();
    expect(run.times.at(-1)).toBe(0);
    expect(run.job("edit").visit).toBe(1);
    expect(run.run.status).toBe("completed");
  });

  it("builds at once for a run that is taken over, and runs the step when the pause is lifted", {
    tags: ["M23", "M25"],
  }, async () => {
    const stage = await Stage.begin(file(TWO, HEAL), {
      edit: [{ ...same, takesMs: 100 }, "ok"],
    });
    await stage.operate({ type: "run.pause", takeover: true });
    expect(await stage.operate({ type: "step.hard_reset", job: await stage.id("edit") })).toBe(
      "WORKSPACE_BUSY",
    );
    expect(
      await stage.operate({ type: "step.hard_reset", job: await stage.id("edit"), force: true }),
    ).toBeNull();
    const paused = await stage.rest();
    expect(trace(paused).slice(-5)).toEqual([
      "run paused",
      "reset edit for operator",
      "stopped edit reset",
      "rebuild 1 for edit from []",
      "rebuilt 1 ok",
    ]);
    expect(paused.job("edit").status).toBe("ready");
    await stage.resume();
    expect((await stage.rest()).run.status).toBe("completed");
  });

  it("refuses with a code what cannot be reset", async () => {
    const stage = await Stage.begin(
      file(`${TWO}\n  look: { type: noop }\n  last: { exec: last, depends_on: [edit] }`, HEAL),
      { plan: [{ output: null, takesMs: 100 }], look: ["fail"] },
    );
    const ask = async (step: string) => stage.operate({ type: "step.hard_reset", job: await stage.id(step) });
    expect(await ask("look")).toBe("NO_WORKSPACE");
    expect(await ask("edit")).toBe("NOT_RETRYABLE");
    expect(await ask("plan")).toBe("WORKSPACE_BUSY");
    expect(await stage.operate({ type: "step.hard_reset", job: 42 })).toBe("STEP_NOT_FOUND");
    await stage.turn();
    await stage.rest();
    expect(await ask("plan")).toBe("STEP_COMPLETED");
  });

  it("resumes from a step in the workspace as it was before it, unless a step is at work there", {
    tags: ["M18", "M25", "M46"],
  }, async () => {
    const stage = await Stage.begin(file(TWO, HEAL), {
      plan: [checkpointed("plan")],
      edit: [checkpointed("edit", { takesMs: 100 }), checkpointed("edit")],
    });
    const edit = await stage.id("edit");
    expect(await stage.operate({ type: "step.resume_from", job: edit })).toBe("WORKSPACE_BUSY");
    await stage.rest();
    expect(await stage.operate({ type: "step.resume_from", job: edit })).toBeNull();
    await stage.resume();
    const run = await stage.rest();
    expect(stage.workspaces.asked.map(({ replay }) => replay)).toEqual([[1]]);
    expect(run.order).toEqual(["plan", "edit", "edit"]);
    expect(run.run.status).toBe("completed");
  });

  it("resumes by force while a step is at work: that one is ended first", async () => {
    const stage = await Stage.begin(file(TWO, HEAL), {
      plan: [checkpointed("plan")],
      edit: [checkpointed("edit", { takesMs: 100 }), checkpointed("edit")],
    });
    await stage.operate({ type: "step.resume_from", job: await stage.id("plan"), force: true });
    const run = await stage.rest();
    expect(run.order).toEqual(["plan", "edit", "plan", "edit"]);
    expect(stage.workspaces.asked).toEqual([{ rebuild: 1, replay: [] }]);
  });
});
