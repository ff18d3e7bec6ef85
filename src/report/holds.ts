import type { HoldAction } from "../core/model/events.js";
import type { JobRow, RunRow } from "../core/model/rows.js";
import { iso } from "../core/text/iso-time.js";
import type { Store } from "../store/store.js";
import { type JobRecord, jobRecord } from "./job-record.js";
import { isImported } from "./lookup/own-runs.js";
import { readLog } from "./lookup/replayed-log.js";
import { requireRun } from "./lookup/run-reference.js";

const RUNS_PER_PAGE = 200;

export interface HoldFilter {
  readonly runId?: number | undefined;
  readonly workflowId?: number | undefined;
}

/** A job that waits for somebody: held after a failure, or a human step that asks. */
export interface WaitingJob extends JobRecord {
  readonly kind: "hold" | "question";
  readonly since: string;
  /** What a question asks; null for a hold. */
  readonly question: { readonly prompt: string; readonly choices: string[] } | null;
  /** What can be decided. */
  readonly decisions: Decision[];
}

/** One way out, as an operation that takes this input. */
export interface Decision {
  readonly decision: string;
  readonly operation: "answer_job" | "classify_and_resolve_failures";
  readonly input: { [field: string]: unknown };
}

/** What needs no output to be given; `complete` does. */
const PLAIN_ACTIONS: readonly HoldAction[] = ["retry", "fail", "skip"];

/** The holds and open questions of one run, or of every run that is not over; only of one version of a workflow if that is named. */
export async function listHolds(store: Store, { runId, workflowId }: HoldFilter = {}): Promise<WaitingJob[]> {
  const found: WaitingJob[] = [];
  const runs = runId === undefined ? unfinishedRuns(store) : [await requireRun(store, runId)];
  for await (const run of runs)
    if (workflowId === undefined || run.workflow_id === workflowId)
      found.push(...(await waitingJobs(store, run)));
  return found;
}

/** An imported run waits for nobody. */
async function waitingJobs(store: Store, run: RunRow): Promise<WaitingJob[]> {
  if (isImported(run)) return [];
  const jobs = (await store.readJobs(run.id)).filter(mayWait);
  if (jobs.length === 0) return [];
  const asked = await lastRequests(store, run.id, new Set(jobs.map(({ id }) => id)));
  return jobs.flatMap((job) => {
    const request = asked.get(job.id);
    return request === undefined ? [] : [{ ...jobRecord(run, job), ...request }];
  });
}

/** A job also waits for a delay; only the log knows what for. */
function mayWait({ status }: JobRow): boolean {
  return status === "pending_failed" || status === "waiting";
}

type Request = Pick<WaitingJob, "kind" | "since" | "question" | "decisions">;

/** What each of these jobs asks of somebody. A question is gone with its attempt; what waits after that is a delay. */
async function lastRequests(
  store: Store,
  runId: number,
  jobs: ReadonlySet<number>,
): Promise<Map<number, Request>> {
  const requests = new Map<number, Request>();
  for await (const { at, event } of readLog(store, runId)) {
    if (!("job" in event) || typeof event.job !== "number" || !jobs.has(event.job)) continue;
    if (event.type === "job.held") requests.set(event.job, holdOf(event.job, iso(at)));
    else if (event.type === "human.asked") requests.set(event.job, questionOf(event.job, iso(at), event));
    else if (event.type === "attempt.failed" || event.type === "attempt.stopped") requests.delete(event.job);
  }
  return requests;
}

function holdOf(job_id: number, since: string): Request {
  const decisions = PLAIN_ACTIONS.map(
    (action): Decision => ({
      decision: action,
      operation: "classify_and_resolve_failures",
      input: { classifications: [{ job_id, action }] },
    }),
  );
  return { kind: "hold", since, question: null, decisions };
}

function questionOf(
  job_id: number,
  since: string,
  { prompt, choices }: { readonly prompt: string; readonly choices: readonly string[] },
): Request {
  const decisions = choices.map(
    (choice): Decision => ({
      decision: choice,
      operation: "answer_job",
      input: { job_id, choice },
    }),
  );
  return { kind: "question", since, question: { prompt, choices: [...choices] }, decisions };
}

async function* unfinishedRuns(store: Store): AsyncGenerator<RunRow> {
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      status: ["held", "running", "paused"],
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    yield* page;
    if (page.length < RUNS_PER_PAGE) return;
    beforeId = page.at(-1)!.id;
  }
}
