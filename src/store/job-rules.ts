import { isSettled } from "../core/model/run.js";
import type { JobFilter } from "./filters.js";

/**
 * Who asks across runs for jobs that are not settled wants those of which something will still become. A run that is
 * over may have left some (a stalled one does): they show where that run is named. So such a list is made from the few
 * runs that are not over, and no store needs an index that every change of every job would have to rewrite.
 */
export function asksForUnfinishedRunsOnly({ status, runId }: JobFilter): boolean {
  return runId === undefined && status !== undefined && !status.some(isSettled);
}
