import type { Event } from "../model/events.js";
import type { CheckpointRow } from "../model/rows.js";
import type { Run } from "../model/run.js";
import type { RunCheckpoint } from "../model/workspace-state.js";

/** Asked after every event, and nearly always the answer. */
const NONE: readonly CheckpointRow[] = Object.freeze([]);

/** The checkpoints that an event made or changed, as their rows stand after it. */
export function checkpointRows(run: Run, event: Event): readonly CheckpointRow[] {
  const { checkpoints } = run.workspace;
  switch (event.type) {
    case "attempt.succeeded": {
      const made = event.checkpoint?.ordinal;
      if (made === undefined) return NONE;
      return checkpoints.filter(({ ordinal }) => ordinal === made).map((each) => checkpointRow(run, each));
    }
    case "barrier.closed": {
      const cut = new Set(event.cut);
      return checkpoints.filter(({ ordinal }) => cut.has(ordinal)).map((each) => checkpointRow(run, each));
    }
    // A replay gives those that stood on one that was taken back another commit.
    case "workspace.promoted":
    case "workspace.moved":
      return checkpoints.filter(({ superseded }) => !superseded).map((each) => checkpointRow(run, each));
    default:
      return NONE;
  }
}

export function checkpointRow(run: Run, checkpoint: RunCheckpoint): CheckpointRow {
  const {
    ordinal,
    job,
    attempt,
    visit,
    commit,
    diff_hash: diffHash,
    changed_files: changedFiles,
    patch,
  } = checkpoint;
  return {
    run_id: run.id,
    ordinal,
    job_id: job.id,
    step: job.step.definition.id,
    scope: job.scope.id,
    attempt,
    visit,
    commit_id: commit,
    diff_hash: diffHash,
    changed_files: changedFiles,
    patch,
    stored: checkpoint.stored === true,
    superseded: checkpoint.superseded,
    at: checkpoint.at,
  };
}
