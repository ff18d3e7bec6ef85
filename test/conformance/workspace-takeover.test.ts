import { describe, expect, it } from "vitest";
import { DarumaError } from "../../src/core/errors/errors.js";
import type { Assignment } from "../../src/run/worker.js";
import type { Outcome, Script } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const FILE = `
workspace: { repo: "." }
queue: { max_attempts: 3, backoff: { mode: fixed, delay_ms: 60000 }, classes: [application] }
steps:
  a: { exec: make }
  b: { exec: make, depends_on: [a] }
`;

const ON_B = { path: "/b/trees/1", home: "home-b", host: "b" };
const ELSEWHERE = new DarumaError("WORKSPACE_ELSEWHERE", "the workspace of run 1 is in /workspace on a");
/** Longer than any test takes. */
const HANGS: Outcome = { output: null, takesMs: 1_000_000 };

const leaves = (commit: string): Outcome => ({
  output: null,
  checkpoint: {
    commit,
    diff_hash: `of ${commit}`,
    changed_files: [],
    patch: `${commit}.patch`,
    stored: true,
  },
});

/** `a` completes; `b` does these things one after the other. What both were given is remembered. */
function script(b: readonly Outcome[]): { script: Script; given: Assignment[] } {
  const given: Assignment[] = [];
  const note =
    (outcomes: readonly Outcome[]) =>
    (assignment: Assignment, nth: number): Outcome => {
      given.push(assignment);
      return outcomes[nth - 1] ?? "ok";
    };
  return { script: { a: note([leaves("one")]), b: note(b) }, given };
}

async function typesOf(stage: Stage): Promise<string[]> {
  return (await stage.view()).log.map(({ event }) => event.type);
}

describe("a run with a workspace whose server is gone", () => {
  it("goes on at another in a workspace built there, when its turn in the queue has come", async () => {
    const stage = await Stage.begin(FILE, script(["fail", leaves("two")]).script);
    expect(await stage.statuses("a", "b")).toEqual(["completed", "waiting"]);
    stage.kill();
    stage.workspaces.elsewhere = { ...ON_B, moved: [] };
    await stage.resume();
    const { run, order, times } = await stage.rest();
    expect(run.status).toBe("completed");
    expect(order).toEqual(["a", "b", "b"]);
    expect(times).toEqual([0, 0, 60_000]);
    const types = await typesOf(stage);
    expect(types.slice(types.indexOf("workspace.moved"))).toEqual([
      ...["workspace.moved", "run.resumed"],
      ...["reset.reserved", "rebuild.started", "rebuild.finished", "jobs.ready"],
      ...["attempt.started", "attempt.succeeded", "workspace.promoted", "run.completed"],
    ]);
  });

  it("runs a lost attempt again in the new place, also one that had a fresh workspace to itself", {
    tags: ["M28"],
  }, async () => {
    const { script: outcomes, given } = script(["fail", HANGS, leaves("two")]);
    const stage = await Stage.begin(FILE, outcomes);
    while (given.length < 3) await stage.turn();
    expect(given.at(-1)!.workspace!.path).not.toBe("/workspace");
    stage.kill();
    stage.workspaces.elsewhere = { ...ON_B, moved: [{ ordinal: 1, commit: "renamed" }] };
    await stage.resume();
    expect((await stage.rest()).run.status).toBe("completed");
    expect(given.at(-1)).toMatchObject({
      stepId: "b",
      workspace: { path: ON_B.path, since: "renamed", ordinal: 2 },
    });
    // It was built by the take-over; nothing was built for the step once more.
    expect(stage.workspaces.asked).toHaveLength(1);
    const attempts = await stage.store.readAttempts(stage.runId);
    expect(attempts.map(({ attempt, status, error }) => [attempt, status, error?.code ?? null])).toEqual([
      [1, "succeeded", null],
      [1, "failed", "EXIT_1"],
      [2, "failed", "WORKER_LOST"],
      [3, "succeeded", null],
    ]);
    expect(await stage.store.readCheckpoints(stage.runId)).toMatchObject([
      { ordinal: 1, step: "a", commit_id: "renamed", stored: true, superseded: false },
      { ordinal: 2, step: "b", commit_id: "two" },
    ]);
  });

  it("is left alone, not failed, by one that cannot have the workspace, and that is told once", async () => {
    const stage = await Stage.begin(FILE, script([HANGS, leaves("two")]).script);
    stage.kill();
    stage.workspaces.elsewhere = ELSEWHERE;
    for (let round = 0; round < 3; round += 1)
      await expect(stage.resume()).rejects.toMatchObject({ code: "WORKSPACE_ELSEWHERE" });
    const { run, log, events } = await stage.view();
    expect(run.status).toBe("running");
    expect(log.at(-1)!.event.type).toBe("workspace.left");
    expect(events("workspace.left")).toHaveLength(1);
    expect(await stage.store.readLease(stage.runId)).toBeNull();
    stage.workspaces.elsewhere = null;
    await stage.resume();
    const after = await stage.rest();
    expect(after.run.status).toBe("completed");
    expect(after.order).toEqual(["a", "b", "b"]);
  });
});

describe("what attempts had left in a workspace that another server builds anew", () => {
  const TWO = `workspace: { repo: ".", on_lost: keep }
steps:
  agent: { exec: edit, on_fail: { retry: { max: 1, backoff: { mode: fixed, delay_ms: 300 } } } }
  other: { exec: edit }
`;

  /** The server is gone, and the next one has an output folder of its own. */
  async function move(stage: Stage): Promise<string[]> {
    stage.kill();
    stage.workspaces.elsewhere = { ...ON_B, moved: [] };
    await stage.resume();
    return trace(await stage.rest());
  }

  it("stays behind: a lost attempt starts again in the new one, which has nothing to set aside", async () => {
    const stage = await Stage.begin(TWO.replace("keep", "set_aside"), { agent: [HANGS, leaves("one")] });
    expect(await move(stage)).toEqual([
      ...["start agent", "fail agent WORKER_LOST", "climb agent restart", "restart agent 1/5"],
      ...["start agent", "ok agent", "start other", "ok other", "run completed"],
    ]);
  });

  it("stays behind, and the failure keeps the new one until its retry is over", async () => {
    const stage = await Stage.begin(TWO, { agent: ["fail", leaves("one")] });
    expect(await stage.statuses("agent", "other")).toEqual(["waiting", "ready"]);
    expect((await move(stage)).slice(4)).toEqual([
      ...["start agent", "ok agent", "start other", "ok other", "run completed"],
    ]);
    expect(stage.workspaces.setAsides).toEqual([]);
  });

  it("is not set aside any more where that was under way", async () => {
    const stage = await Stage.begin(
      TWO,
      { agent: ["fail", "fail"], other: [leaves("one")] },
      { setAsides: [{ takesMs: 1_000 }] },
    );
    await stage.turn();
    expect(stage.workspaces.setAsides).toEqual(["/workspace"]);
    expect((await move(stage)).slice(7)).toEqual([
      ...["failed agent EXIT_1", "set aside agent 2 for other", "start other", "ok other"],
      "run failed EXIT_1",
    ]);
    expect(stage.workspaces.setAsides).toEqual(["/workspace"]);
  });

  it("does not keep a fresh workspace that was waited for from being built, once", async () => {
    const queue =
      "queue: { max_attempts: 2, classes: [application], backoff: { mode: fixed, delay_ms: 100 } }";
    const stage = await Stage.begin(
      `${queue}\n${TWO.replace(/, on_fail.*$/m, " }")}`,
      { agent: ["fail", leaves("one")], other: [leaves("two")] },
      { setAsides: [{ takesMs: 1_000 }] },
    );
    await stage.turn();
    expect(await stage.statuses("agent", "other")).toEqual(["recovering", "ready"]);
    expect((await move(stage)).slice(4)).toEqual([
      ...["set aside agent 1 for other", "reset agent for requeue", "rebuild 1 for agent from []"],
      ...[
        "rebuilt 1 ok",
        "start agent",
        "ok agent",
        "promoted 1",
        "start other",
        "ok other",
        "run completed",
      ],
    ]);
    expect(stage.workspaces.asked).toHaveLength(1);
  });
});
