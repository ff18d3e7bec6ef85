import type { CampaignAction, CampaignItem } from "../../core/campaign/campaign.js";
import type { JobRow, RunRow } from "../../core/model/rows.js";
import type { JobFilter } from "../../store/filters.js";
import type { Store } from "../../store/store.js";
import { isImported } from "../../tell/lookup/own-runs.js";

/** Which failed jobs; all that are named must hold. */
export interface ItemFilter {
  /** How their signature begins. */
  readonly signature?: string;
  readonly workflow?: string;
  readonly step?: string;
  readonly class?: string;
  readonly since?: number;
  readonly runId?: number;
  readonly kinds?: readonly CampaignItem["kind"][];
  readonly jobIds?: readonly number[];
}

interface FoundItems {
  readonly items: readonly CampaignItem[];
  readonly leftOut: readonly { readonly job_id: number; readonly because: string }[];
}

const JOBS_PER_PAGE = 1_000;
const FAILED: readonly JobFilter[] = [{ status: ["held"] }, { deadLetter: true }, { status: ["failed"] }];

/** Holds, failures that nothing handled, and dead letters, as they are now, oldest first. */
export async function findItems(
  store: Store,
  filter: ItemFilter,
  action: CampaignAction,
): Promise<FoundItems> {
  const runs = runsOf(store);
  const items: CampaignItem[] = [];
  const leftOut: { job_id: number; because: string }[] = [];
  const jobs = new Map<number, JobRow>();
  for await (const job of candidates(store, filter)) jobs.set(job.id, job);
  for (const job of [...jobs.values()].sort((a, b) => a.id - b.id)) {
    const run = await runs(job.run_id);
    if (run === null || isImported(run) || !isAskedFor(job, run, filter)) continue;
    const kind = kindOf(job);
    if (filter.kinds !== undefined && !filter.kinds.includes(kind)) continue;
    const because = await whyNot(run, kind, action, runs);
    if (because !== null) leftOut.push({ job_id: job.id, because });
    else
      items.push({
        ...{ run_id: run.id, job_id: job.id, step: job.step, scope: job.scope },
        ...{ visit: job.visit, attempt: job.attempt_id, kind },
        ...{ state: "waiting", code: null, wave: null, sent_at: null },
      });
  }
  return { items, leftOut };
}

function kindOf({ dead_letter, status }: JobRow): CampaignItem["kind"] {
  if (dead_letter) return "dead_letter";
  return status === "held" ? "hold" : "failed";
}

type RunOf = (id: number) => Promise<RunRow | null>;

function runsOf(store: Store): RunOf {
  const known = new Map<number, Promise<RunRow | null>>();
  return (id) => {
    if (!known.has(id)) known.set(id, store.readRun(id));
    return known.get(id)!;
  };
}

async function* candidates(
  store: Store,
  { jobIds, step, workflow, runId }: ItemFilter,
): AsyncGenerator<JobRow> {
  if (jobIds !== undefined) {
    for (const id of jobIds) {
      const job = await store.readJob(id);
      if (job !== null) yield job;
    }
    return;
  }
  for (const kind of FAILED)
    for (let afterId: number | undefined; ; ) {
      const page = await store.listJobs({
        ...kind,
        limit: JOBS_PER_PAGE,
        ...(step === undefined ? {} : { step }),
        ...(workflow === undefined ? {} : { workflow }),
        ...(runId === undefined ? {} : { runId }),
        ...(afterId === undefined ? {} : { afterId }),
      });
      yield* page;
      if (page.length < JOBS_PER_PAGE) break;
      afterId = page.at(-1)!.id;
    }
}

function isAskedFor(job: JobRow, run: RunRow, filter: ItemFilter): boolean {
  const { error, status, unanswered } = job;
  if (!unanswered || (status !== "held" && status !== "failed") || error === null) return false;
  // What ended the job may be another than its last attempt failed with, such as its loop budget.
  const failures = error.cause === null || error.cause === undefined ? [error] : [error, error.cause];
  const { signature, workflow, step, class: failureClass, since, runId } = filter;
  return (
    (runId === undefined || run.id === runId) &&
    (signature === undefined || failures.some((each) => each.signature.startsWith(signature))) &&
    (workflow === undefined || run.workflow === workflow) &&
    (step === undefined || job.step === step || job.family === step) &&
    (failureClass === undefined || failures.some((each) => each.class === failureClass)) &&
    (since === undefined || Date.parse(error.timestamp) >= since)
  );
}

async function whyNot(
  run: RunRow,
  kind: CampaignItem["kind"],
  action: CampaignAction,
  runs: RunOf,
): Promise<string | null> {
  if (!run.managed) return "its run belongs to `daruma run`, not to a server: name the run";
  if (action !== "retry" && kind !== "hold") return "it is not on hold";
  if (run.parent === null) return null;
  const parent = await runs(run.parent.run_id);
  return parent === null || parent.finished_at !== null ? "the run that started its run is over" : null;
}
