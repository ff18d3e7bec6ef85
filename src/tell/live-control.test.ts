import { describe, expect, it } from "vitest";
import { Stage } from "../../test/support/stage.js";
import { loadRun } from "../run/engine/load-run.js";
import { LiveControls, liveControlOf } from "./live-control.js";

const FILE = `name: steered
workspace: {}
self_heal: true
queue: { max_attempts: 1, classes: [application, stuck_no_progress] }
steps:
  plan: { exec: plan }
  edit: { exec: edit, depends_on: [plan] }
`;
const CHECKPOINT = {
  output: null,
  checkpoint: { commit: "c1", diff_hash: "d1", changed_files: ["a"], patch: "p1" },
};
const FAILS = { exit: 1, stderr: "no", diff_hash: "d2" };

async function begin(): Promise<Stage> {
  const stage = await Stage.begin(FILE, { plan: [CHECKPOINT], edit: [FAILS] });
  await stage.rest();
  return stage;
}

async function controlOf(stage: Stage) {
  return liveControlOf((await loadRun(stage.store, stage.runId)).run);
}

const QUIET = { paused: false, takeover: false };

describe("the live-control document of a run", () => {
  it("asks for nothing at first, and says whether somebody has paused it or taken it over", async () => {
    const stage = await Stage.begin(FILE, { plan: [{ output: null, takesMs: 100 }] });
    expect(await controlOf(stage)).toEqual({ ...QUIET, recovery: null });
    await stage.operate({ type: "run.pause", takeover: false });
    expect(await controlOf(stage)).toEqual({ paused: true, takeover: false, recovery: null });
    await stage.operate({ type: "run.pause", takeover: true });
    expect(await controlOf(stage)).toEqual({ paused: true, takeover: true, recovery: null });
    await stage.operate({ type: "run.unpause" });
    expect(await controlOf(stage)).toEqual({ ...QUIET, recovery: null });
  });

  it.each([
    ["step.retry", "edit", "retry_step"],
    ["step.hard_reset", "edit", "hard_reset_step"],
    ["step.resume_from", "plan", "resume_from_step"],
    ["step.redrive", "edit", "redrive"],
  ] as const)(
    "names what was last asked for by %s of %s: %s",
    { tags: ["M27"] },
    async (type, step, action) => {
      const stage = await begin();
      expect(await stage.operate({ type, job: await stage.id(step) })).toBeNull();
      const updated_at = new Date(stage.clock.now()).toISOString();
      expect(await controlOf(stage)).toEqual({ ...QUIET, recovery: { action, step_id: step, updated_at } });
    },
  );

  it("names a hard reset of a step that waits or runs too", async () => {
    const stage = await Stage.begin(FILE, { plan: [{ output: null, takesMs: 100 }] });
    await stage.operate({ type: "step.hard_reset", job: await stage.id("plan"), force: true });
    expect((await controlOf(stage)).recovery).toMatchObject({ action: "hard_reset_step", step_id: "plan" });
  });

  it("is not changed by what is asked of the whole run", async () => {
    const stage = await begin();
    await stage.operate({ type: "run.reset" });
    expect((await controlOf(stage)).recovery).toBeNull();
  });
});

describe("the documents of an engine's runs", () => {
  it("follow what is committed, until the run is over", async () => {
    const stage = await Stage.begin(FILE, { plan: [{ output: null, takesMs: 100 }] });
    const controls = new LiveControls();
    expect(controls.of(stage.runId)).toBeNull();
    controls.note((await loadRun(stage.store, stage.runId)).run);
    expect(controls.of(stage.runId)).toEqual({ ...QUIET, recovery: null });
    await stage.operate({ type: "run.cancel" });
    await stage.rest();
    controls.note((await loadRun(stage.store, stage.runId)).run);
    expect(controls.of(stage.runId)).toBeNull();
  });
});
