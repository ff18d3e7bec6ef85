import type { UndoItem } from "../../model/ending/run-ending.js";
import type { Job, Run } from "../../model/run.js";
import { readyAfterIf } from "../ask.js";
import type { Decision } from "../decision.js";
import { jobIn } from "../targets.js";

/** What is to be undone: the jobs that have completed in this run, the newest completion first. */
export function jobsToUndo(run: Run): Job[] {
  return [...run.undoable.keys()].reverse();
}

export function startUndo(decision: Decision): void {
  const jobs = jobsToUndo(decision.run);
  if (jobs.length > 0) decision.emit({ type: "undo.started", jobs: jobs.map(({ id }) => id) });
}

/** The visit of an undo step is over, well or not. */
export function leaveUndo(decision: Decision): void {
  const turn = decision.run.ending?.turn;
  if (turn == null || turn.item === null) return;
  const { job, item } = turn;
  decision.emit({ type: "undo.left", job: job.id, of: item.job.id, undone: hasUndone(job) });
}

/** It completed, by itself or by hand, or its `if` says that there is nothing to undo. */
function hasUndone({ status, settledAs }: Job): boolean {
  return status === "completed" || (status === "skipped" && settledAs === "lost");
}

/** One at a time: true if there is another. */
export function enterNextUndo(decision: Decision): boolean {
  const { ending } = decision.run;
  const item = ending?.items?.[ending.next];
  if (item === undefined) return false;
  enterUndo(decision, item);
  return true;
}

function enterUndo(decision: Decision, { job: of }: UndoItem): void {
  const step = decision.run.graph.byId.get(of.step.definition.undo!)!;
  const job = jobIn(decision, of.scope, step);
  const visit = job.entered ? job.visit + 1 : job.visit;
  decision.emit({ type: "undo.entered", job: job.id, visit, of: of.id });
  readyAfterIf(decision, job, "undo");
}
