import { DarumaError } from "../../core/errors/errors.js";
import type { RunRow } from "../../core/model/rows.js";
import { JOB_IDS_PER_RUN } from "../../core/model/run.js";
import type { Store } from "../../store/store.js";
import type { JobRequest } from "./choose-job.js";
import { type RunReference, resolveRun } from "./run-reference.js";

/** Whatever an operation acts on. */
export type Acted = { readonly run: RunReference } | { readonly job: JobRequest };

/** The file, the scripts and the workspace of an imported run came from somebody whom nobody here has chosen. */
export function isImported({ options }: Pick<RunRow, "options">): boolean {
  return options.imported === true;
}

/**
 * A new run of the workflow may take over from it. A run of one step alone, or of another run's step, is no run of the
 * workflow; what was undone is not there any more.
 */
export function isReusable(run: Pick<RunRow, "options" | "parent" | "tally">): boolean {
  const isUndone = run.tally?.ending?.undone === true;
  return !isImported(run) && run.parent === null && run.options.only === null && !isUndone;
}

/** Refuses imported runs. Missing ones are left to the code that looks them up. */
export async function requireOwnRuns(store: Store, acted: readonly Acted[]): Promise<void> {
  const ids = await Promise.all(
    acted.flatMap(runsOf).map((run) => (run === "last" ? resolveRun(store, run) : run)),
  );
  for (const id of new Set(ids)) {
    const run = await store.readRun(id);
    if (run !== null && isImported(run)) throw new DarumaError("IMPORTED_RUN", `run ${id} was imported`);
  }
}

/** A job's id says whose it is, and so does the run in which it is named. */
function runsOf(acted: Acted): RunReference[] {
  if ("run" in acted) return [acted.run];
  const { job_id, run_id } = acted.job;
  const id = Number(job_id);
  return [
    ...(run_id === undefined ? [] : [run_id]),
    ...(Number.isSafeInteger(id) ? [Math.floor(id / JOB_IDS_PER_RUN)] : []),
  ];
}
