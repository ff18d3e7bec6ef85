import type { RunEnd } from "../../model/ending/run-ending.js";
import { isHandled } from "../../model/handled.js";
import type { Job, Run } from "../../model/run.js";
import { readyAfterIf } from "../ask.js";
import type { Decision } from "../decision.js";
import { jobIn } from "../targets.js";

/**
 * Enters the next finally step in the order of the file, whatever became of the previous one. Returns true if there is
 * one.
 */
export function enterNextFinally(decision: Decision): boolean {
  const { run } = decision;
  const id = run.definition.finally?.[run.ending!.finally.length];
  if (id === undefined) return false;
  const job = jobIn(decision, run.root, run.graph.byId.get(id)!);
  const visit = job.entered ? job.visit + 1 : job.visit;
  decision.emit({ type: "finally.entered", job: job.id, visit });
  readyAfterIf(decision, job, "finally");
  return true;
}

/** The first that did not do what it is for: with it a run that completed has failed after all. */
export function failedFinally(run: Run): Job | null {
  return run.ending?.finally.find((job) => job.status === "failed" && !isHandled(job)) ?? null;
}

/** How the run ends as it stands, for the steps that run at its end; null: for any other step. */
export function endSeenBy(run: Run, { step }: Job): RunEnd | null {
  if (step.atEnd === null || run.ending === null) return null;
  const { status, error } = run.ending;
  const failed = status === "completed" ? failedFinally(run) : null;
  if (failed === null) return { status, error };
  const { code = "UNKNOWN", message = "failed" } = failed.failure ?? {};
  return { status: "failed", error: { code, message: `${failed.step.definition.id}: ${message}` } };
}
