import { expect, it } from "vitest";
import { decide } from "../../src/core/decide/decide.js";
import { ReplayedRun } from "../../src/tell/lookup/replayed-log.js";
import { trial, workflow } from "../support/harness.js";
import { checkpointed } from "../support/scripted-worker.js";

const TEXT = `workspace: {}
steps:
  plan: { exec: plan }
  edit: { exec: edit, depends_on: [plan] }`;

it("a fresh workspace that is asked for where no engine has the run is begun once, by the engine that takes it", async () => {
  const { run, log } = await trial(TEXT, { plan: [checkpointed("plan")], edit: ["fail"] });
  const replay = new ReplayedRun(run.id, () => workflow(TEXT).definition);
  for (const logged of log) replay.fold(logged);
  const { now: past } = replay;
  const job = past.jobs.find(({ step }) => step.definition.id === "edit")!.id;
  const asked = decide(
    past,
    { type: "step.hard_reset", job, reason: "again", key: null, force: false },
    10,
    false,
  );
  expect(asked.map(({ type }) => type)).not.toContain("rebuild.started");
  expect(asked.map(({ type }) => type)).toContain("reset.reserved");
  const begun = decide(past, { type: "run.resume", kept: [] }, 20);
  expect(begun).toMatchObject([
    { type: "run.resumed" },
    { type: "rebuild.started", rebuild: 1, try: 1, replay: [1] },
  ]);
});
