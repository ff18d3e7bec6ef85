import { describe, expect, it } from "vitest";
import { type SelfHealRecord, selfHealRecord } from "../../src/core/failure/self-heal-record.js";
import { ReplayedRun } from "../../src/tell/lookup/replayed-log.js";
import { readStories } from "../../src/tell/words/job-story.js";
import { Narrator } from "../../src/tell/words/narrator.js";
import { textOf } from "../../src/tell/words/sentence.js";
import { type Trial, workflow } from "../support/harness.js";
import { replayedTrial } from "../support/replayed-trial.js";
import { checkpointed } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";

const same = { exit: 1, stderr: "the test fails", diffHash: "d1" };
const TEXT = `name: story
workspace: {}
self_heal: true
queue: { max_attempts: 2 }
steps:
  plan: { exec: plan }
  edit: { exec: edit, depends_on: [plan] }
`;
const SCRIPT = { plan: [checkpointed("plan")], edit: [same, same, same, same, checkpointed("edit")] };

function recordsOf({ run, log }: Pick<Trial, "run" | "log">, text = TEXT): SelfHealRecord[] {
  const replay = new ReplayedRun(run.id, () => workflow(text).definition);
  return log.flatMap((logged) => selfHealRecord(replay.fold(logged), logged.event) ?? []);
}

describe("what is told of a step that heals", () => {
  it("has its fields for every event that it names", { tags: ["M29", "M30"] }, async () => {
    const run = await replayedTrial(TEXT, SCRIPT);
    const records = recordsOf(run).filter(({ stepId }) => stepId === "edit");
    expect(records.map(({ type, attempt, strategy }) => `${type} ${attempt} ${strategy}`)).toEqual([
      "task.step.attempt.started 1 null",
      "task.step.attempt.failed 1 null",
      "task.self_heal.triggered 1 soft_reset",
      "task.step.attempt.started 2 null",
      "task.step.attempt.failed 2 null",
      "task.self_heal.escalated 2 hard_reset",
      "task.step.attempt.started 3 null",
      "task.step.attempt.failed 3 null",
      "task.self_heal.escalated 3 requeue",
      "task.step.attempt.started 4 null",
      "task.step.attempt.failed 4 null",
      "task.self_heal.triggered 4 soft_reset",
      "task.step.attempt.started 5 null",
      "task.step.attempt.finished 5 null",
    ]);
    const failures = records.filter(({ type }) => /failed|self_heal/.test(type));
    expect(failures.map(({ attempt, failureClass }) => `${attempt} ${failureClass}`)).toEqual([
      ...["1 application", "1 application", "2 stuck_no_progress", "2 stuck_no_progress"],
      ...["3 stuck_no_progress", "3 stuck_no_progress", "4 application", "4 application"],
    ]);
    expect(new Set(failures.map(({ failureSignature }) => failureSignature)).size).toBe(1);
    for (const record of records) expect(record).toMatchObject({ stepId: "edit", stepIndex: 1 });
    for (const record of failures) expect(record).toMatchObject({ diffHash: "d1" });
    expect(records.find(({ strategy }) => strategy === "hard_reset")).toEqual({
      type: "task.self_heal.escalated",
      stepId: "edit",
      stepIndex: 1,
      attempt: 2,
      failureClass: "stuck_no_progress",
      failureSignature: expect.stringMatching(/^v2:[0-9a-f]{64}$/),
      diffHash: "d1",
      strategy: "hard_reset",
    });
    expect(records.at(-1)).toMatchObject({ diffHash: "diff-edit", failureClass: null });
  });

  it("says when self-heal is used up, with a queue and without", { tags: ["M29"] }, async () => {
    const exhausted = async (text: string) => {
      const run = await replayedTrial(text, { ...SCRIPT, edit: [same] });
      return recordsOf(run, text)
        .filter(({ type }) => type === "task.self_heal.exhausted")
        .map(({ attempt, strategy }) => `${attempt} ${strategy}`);
    };
    expect(await exhausted(TEXT)).toEqual(["5 requeue"]);
    expect(await exhausted(TEXT.replace(/queue:.*\n/, ""))).toEqual(["3 hard_reset"]);
  });

  it("names the step from which an operator resumes", { tags: ["M29"] }, async () => {
    const stage = await Stage.begin(TEXT, { ...SCRIPT, edit: [checkpointed("edit")] });
    await stage.rest();
    expect(await stage.operate({ type: "step.resume_from", job: await stage.id("edit") })).toBeNull();
    await stage.resume();
    const records = recordsOf(await stage.rest()).filter(({ type }) => type === "task.resume.from_step");
    expect(records).toMatchObject([{ stepId: "edit", stepIndex: 1, strategy: null }]);
  });

  it("is a story in sentences, without names of events", async () => {
    const run = await replayedTrial(TEXT, { ...SCRIPT, edit: [same] });
    const { id: runId, definition } = run.runAt();
    const { stories } = readStories({ runId, definition, log: run.log });
    const story = stories.find(({ job }) => job.step.definition.id === "edit")!;
    const told = story.sentences.map(textOf).join("\n");
    expect(told).toContain(
      "No progress: the same failure 2 times, with the same changes or none. Its class would otherwise be application.",
    );
    expect(told).toContain("Cost: hard reset 1 of 1 of this run");
    expect(told).toContain(
      "A fresh workspace was built beside the old one, from the pinned commit and checkpoint 1.",
    );
    expect(told).toContain("requeue 1 of 1 in 15 s.\nCost: requeue 1 of 1 and 15.0 s of waiting");
    expect(told).toContain("The queue gave it up after 2 rounds: it is a dead letter");
    expect(told).not.toMatch(/\b(?:reset|rebuild|workspace|requeue|job)\.[a-z_]+/);
  });

  it("is told line by line while it runs", async () => {
    const run = await replayedTrial(TEXT, SCRIPT);
    const narrator = new Narrator();
    const lines: string[] = [];
    for (const { run: state, logged } of run.states())
      for (const { text } of narrator.tell(state, logged)) lines.push(text);
    expect(lines.filter((line) => /workspace|queue/.test(line))).toEqual([
      "the workspace is /workspace, at pinned",
      "edit attempt 2 failed: exit code 1 (EXIT_1, stuck_no_progress) — no progress: the same failure 2 times, with the same changes or none; hard reset 1 of 1: run it again in a fresh workspace",
      "edit: building a fresh workspace from 1 checkpoint",
      "edit: the workspace was ready after 0 ms",
      expect.stringContaining("requeue 1 of 1 in 15.0 s"),
      "edit: the fresh workspace was discarded (the step did not complete in it)",
      "edit: its turn in the queue has come",
      "edit: building a fresh workspace from 1 checkpoint",
      "edit: the workspace was ready after 0 ms",
      "edit: the run goes on in the fresh workspace",
    ]);
  });
});
