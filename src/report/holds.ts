import type { Event, HoldAction } from "../core/model/events.js";
import type { JobRow, RunRow } from "../core/model/rows.js";
import { type Expiry, expiryOf } from "../core/notify/expiry.js";
import type { Store } from "../store/store.js";
import type { JobRecord } from "./job-record.js";
import { type Blocks, blocksAmong, dependentsIn } from "./lookup/blocked-steps.js";
import { ownerOf } from "./lookup/run-owner.js";
import { requireRun } from "./lookup/run-reference.js";
import { markedJobs } from "./marked-jobs.js";
import { errorLinesOf } from "./words/problem-words.js";

const RUNS_PER_PAGE = 200;

export interface HoldFilter {
  readonly runId?: number | undefined;
  readonly workflowId?: number | undefined;
}

/** A job that waits for somebody: held after a failure, or a human step that asks. */
export interface WaitingJob extends JobRecord {
  readonly kind: "hold" | "question";
  readonly since: string;
  /** What waits for it in its run. */
  readonly blocks: Blocks;
  /** What it printed last that looks like an error. */
  readonly error_lines: readonly string[];
  /** What a question asks; null for a hold. */
  readonly question: { readonly prompt: string; readonly choices: readonly string[] } | null;
  /** When it ends by itself; null: it waits until somebody decides. */
  readonly expiry: Expiry | null;
  /** What can be decided. */
  readonly decisions: readonly Decision[];
  /** The process that continues the run after the decision. Null if the run must be resumed. */
  readonly owner: { readonly host: string; readonly pid: number } | null;
}

/** One way out, as an operation that takes this input. */
export interface Decision {
  readonly decision: string;
  readonly operation: "answer_job" | "resolve_holds";
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

async function waitingJobs(store: Store, run: RunRow): Promise<WaitingJob[]> {
  const all = await store.readJobs(run.id);
  const jobs = await markedJobs(store, run, all.filter(mayWait), requestOf);
  if (jobs.length === 0) return [];
  const owner = await ownerOf(store, run.id);
  const dependents = await dependentsIn(store, run.definition_hash);
  const blocked = new Set(all.flatMap(({ status, step }) => (status === "blocked" ? [step] : [])));
  return jobs.map((job) => ({
    ...job,
    blocks: blocksAmong(dependents, job.step, blocked),
    error_lines: errorLinesOf(job.error?.cause ?? job.error),
    owner,
  }));
}

/** A job also waits for a delay; only the log knows what for. */
function mayWait({ status }: JobRow): boolean {
  return status === "held" || status === "waiting";
}

type Request = Pick<WaitingJob, "kind" | "question" | "expiry" | "decisions">;

/** What a job asks of somebody. A question is gone with its attempt; what waits after that is a delay. */
function requestOf(event: Event): Request | null | undefined {
  switch (event.type) {
    case "job.held":
      return holdOf(event);
    case "human.asked":
      return questionOf(event);
    case "attempt.failed":
    case "attempt.stopped":
      return null;
    default:
      return undefined;
  }
}

function holdOf(event: Extract<Event, { type: "job.held" }>): Request {
  const job_id = event.job;
  const decisions = PLAIN_ACTIONS.map(
    (action): Decision => ({
      decision: action,
      operation: "resolve_holds",
      input: { classifications: [{ job_id, action }] },
    }),
  );
  return { kind: "hold", question: null, expiry: expiryOf(event), decisions };
}

function questionOf(event: Extract<Event, { type: "human.asked" }>): Request {
  const { job: job_id, prompt, choices } = event;
  const decisions = choices.map(
    (choice): Decision => ({
      decision: choice,
      operation: "answer_job",
      input: { job_id, choice },
    }),
  );
  const question = { prompt, choices };
  return { kind: "question", question, expiry: expiryOf(event), decisions };
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
