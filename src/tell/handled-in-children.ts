import type { RunRow, RunStatus } from "../core/model/rows.js";
import { list, number, type OfFields, object, text, word } from "../core/text/shape.js";
import type { Store } from "../store/store.js";
import { DECIDED_JOB, decidedJobs } from "./decided-jobs.js";
import { listNames, nameOf } from "./lookup/job-name.js";

/**
 * A child run, at whatever depth, that completed with so many failures handled or jobs decided, or that is open: somebody
 * has reopened it. `job_id` is that of the step it ran for, `under_job_id` the step of the run that is asked about; `steps`
 * are those that failed.
 */
export const HANDLED_CHILD = {
  run_id: number,
  workflow: text,
  job_id: number,
  under_job_id: number,
  status: word<RunStatus>(),
  failures: number,
  steps: text,
  decided: list(object(DECIDED_JOB)),
} as const;
export type HandledChild = OfFields<typeof HANDLED_CHILD>;

/** A run may look clean only because what failed did so in a child run. Of each step the newest child counts. */
export async function handledInChildren(
  store: Store,
  { id, status }: RunRow,
  under: number | null = null,
): Promise<HandledChild[]> {
  if (status !== "completed") return [];
  const found: HandledChild[] = [];
  const seen = new Set<number>();
  for (const child of await store.listRuns({ parentRun: id })) {
    const job_id = child.parent!.job_id;
    if (seen.has(job_id)) continue;
    seen.add(job_id);
    const under_job_id = under ?? job_id;
    const told = await handledIn(store, child);
    if (told !== null) found.push({ ...told, job_id, under_job_id });
    found.push(...(await handledInChildren(store, child, under_job_id)));
  }
  return found.sort((one, other) => one.run_id - other.run_id);
}

async function handledIn(
  store: Store,
  { id: run_id, workflow, status, tally, finished_at }: RunRow,
): Promise<Omit<HandledChild, "job_id" | "under_job_id"> | null> {
  if (finished_at === null) return { run_id, workflow, status, failures: 0, steps: "", decided: [] };
  const failures = tally?.handled ?? 0;
  const decided = await decidedJobs(store, { id: run_id, tally });
  if (status !== "completed" || (failures === 0 && decided.length === 0)) return null;
  const failed = failures === 0 ? [] : await store.listJobs({ runId: run_id, status: ["failed"] });
  const steps = listNames(failed, ({ step, scope }) => nameOf(step, scope));
  return { run_id, workflow, status, failures, steps, decided };
}
