import { type Job, jobById, type Run } from "../../core/model/run.js";

/** How many names a sentence carries before it says "and n more". */
const MAX_NAMES = 6;

/** `build`, or `visit@cities[1]` for the job of a branch. */
export function nameOf(step: string, scope: string): string {
  return scope === "root" ? step : `${step}@${scope.replace(/^root\//, "")}`;
}

export function jobName(job: Job): string {
  return nameOf(job.step.definition.id, job.scope.id);
}

export function jobNames(run: Run, ids: readonly number[]): string {
  return listNames(ids, (id) => jobName(jobById(run, id)));
}

/** The items that `listNames` names. */
export function shownOf<T>(items: readonly T[]): readonly T[] {
  return items.slice(0, MAX_NAMES);
}

/** Names only what it shows: the list may have a hundred thousand entries. */
export function listNames<T>(items: readonly T[], name: (item: T) => string): string {
  const shown = shownOf(items).map(name).join(", ");
  return items.length > MAX_NAMES ? `${shown} and ${items.length - MAX_NAMES} more` : shown;
}
