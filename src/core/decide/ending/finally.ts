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
