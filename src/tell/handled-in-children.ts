import type { UncleanChild } from "../core/model/events.js";
import type { JobRow, RunRow, RunStatus } from "../core/model/rows.js";
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
  run: RunRow,
  under: number | null = null,
): Promise<HandledChild[]> {
  if (run.status !== "completed") return [];
  const found: HandledChild[] = [];
  const seen = new Set<number>();
  const look = async (child: RunRow, job_id: number) => {
    seen.add(job_id);
    const under_job_id = under ?? job_id;
    const told = await handledIn(store, child);
    if (told !== null) found.push({ ...told, job_id, under_job_id });
    found.push(...(await handledInChildren(store, child, under_job_id)));
  };
  for (const child of await store.listRuns({ parentRun: run.id }))
    if (!seen.has(child.parent!.job_id)) await look(child, child.parent!.job_id);
  for (const { id, step, scope, below } of await jobsWithChildren(store, run)) {
    if (seen.has(id)) continue;
    const child = await store.readRun(below!.run_id);
    if (child !== null) await look(child, id);
    else found.push({ ...goneChild(nameOf(step, scope), below!), job_id: id, under_job_id: under ?? id });
  }
  return found.sort((one, other) => one.run_id - other.run_id);
}

/** Steps of which something is left in a child run. A step that was taken over has it under the run where it really ran. */
async function jobsWithChildren(store: Store, { id, tally }: RunRow): Promise<JobRow[]> {
  if (tally?.below === undefined) return [];
  const completed = await store.listJobs({ runId: id, status: ["completed"] });
  return completed.filter(({ below }) => below !== null);
}

/** What a run remembers of a child that is no longer stored: how much, not which steps. */
function goneChild(
  steps: string,
  { run_id, handled }: UncleanChild,
): Omit<HandledChild, "job_id" | "under_job_id"> {
  return { run_id, workflow: "", status: "completed", failures: handled, steps, decided: [] };
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
