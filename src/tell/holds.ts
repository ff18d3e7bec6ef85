import type { Event, HoldAction } from "../core/model/events.js";
import { excerptOf } from "../core/model/excerpt.js";
import type { JobRow, RunRow } from "../core/model/rows.js";
import { parseStoredDefinition } from "../core/model/stored-definition.js";
import { EXPIRY, expiryOf } from "../core/notices/expiry.js";
import { iso } from "../core/text/iso-time.js";
import {
  jsonOf,
  list,
  noted,
  nullable,
  number,
  type OfFields,
  object,
  record,
  text,
  word,
} from "../core/text/shape.js";
import type { Store } from "../store/store.js";
import { JOB_RECORD, type JobRecord, jobRecord } from "./job-record.js";
import { BLOCKS, blocksAmong, dependentsIn } from "./lookup/blocked-steps.js";
import { isImported } from "./lookup/own-runs.js";
import { readLog } from "./lookup/replayed-log.js";
import { ownerOf } from "./lookup/run-owner.js";
import { requireRun } from "./lookup/run-reference.js";
import { type WayBack, wayBackInput, waysBackIn } from "./lookup/ways-back.js";

const RUNS_PER_PAGE = 200;
const MAX_LINES = 10;

interface HoldFilter {
  readonly runId?: number | undefined;
  readonly workflowId?: number | undefined;
}

/** One way out, as an operation that takes this input. */
const DECISION = {
  decision: noted(
    text,
    "A choice of the question; of a hold: retry, fail or skip, and resume_from to send the work back to the step that did it.",
  ),
  operation: word(["answer_job", "resolve_holds", "control_run"]),
  input: noted(
    record(jsonOf<unknown>()),
    "The input of the operation. With resume_from, add a hint: what the step is to do differently.",
  ),
} as const;
type Decision = OfFields<typeof DECISION>;

/** A job that waits for somebody: held after a failure, or a human step that asks. */
export const WAITING_JOB = {
  ...JOB_RECORD,
  kind: word(["hold", "question"]),
  since: noted(text, "When it was held or asked; ISO 8601."),
  blocks: noted(object(BLOCKS), "What waits for it in its run."),
  error_lines: noted(list(text), "What it printed of its failure: errors, and the last lines."),
  question: noted(
    nullable(object({ prompt: text, choices: list(text) })),
    "What a human step asks; null for a hold.",
  ),
  expiry: noted(
    nullable(object(EXPIRY)),
    "When a hold or question ends by itself, and how; null: it waits until somebody decides.",
  ),
  decisions: list(object(DECISION)),
  owner: noted(
    nullable(object({ host: text, pid: number })),
    "The process that goes on with the run by itself once it is decided; null: the run must be resumed.",
  ),
} as const;
export type WaitingJob = OfFields<typeof WAITING_JOB>;

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
  const waysBack = await waysBackOf(store, run, jobs.some(({ kind }) => kind === "hold") ? all : []);
  return jobs.map((job) => ({
    ...job,
    decisions: [
      ...job.decisions,
      ...(job.kind === "hold" ? waysBack(job).map((way) => sendBack(run.id, way)) : []),
    ],
    blocks: blocksAmong(dependents, job.step, blocked),
    error_lines: job.error === null ? [] : excerptOf(job.error, MAX_LINES).map(({ text }) => text),
    owner,
  }));
}

async function waysBackOf(store: Store, { definition_hash: hash }: RunRow, jobs: readonly JobRow[]) {
  const text = jobs.length === 0 ? null : await store.readDefinition(hash);
  return text === null ? () => [] : waysBackIn(parseStoredDefinition(text, hash), jobs);
}

function sendBack(run: number, way: WayBack): Decision {
  return { decision: "resume_from", operation: "control_run", input: wayBackInput(run, way) };
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

/** A job, since when it is what it is, and what the log says of that. */
export type MarkedJob<Mark> = JobRecord & { readonly since: string } & Mark;

/**
 * The jobs that wait for somebody. `markOf` reads an event of a job and returns the mark that it sets, null if it
 * removes the mark, or undefined if it does not affect it. The last one counts. An imported run waits for nobody.
 */
export async function markedJobs<Mark extends object>(
  store: Store,
  run: RunRow,
  jobs: readonly JobRow[],
  markOf: (event: Event & { readonly job: number }) => Mark | null | undefined,
): Promise<MarkedJob<Mark>[]> {
  if (jobs.length === 0 || isImported(run)) return [];
  const ids = new Set(jobs.map(({ id }) => id));
  const marks = new Map<number, Mark & { readonly since: string }>();
  for await (const { at, event } of readLog(store, run.id)) {
    if (!isOfOneOf(ids, event)) continue;
    const mark = markOf(event);
    if (mark === null) marks.delete(event.job);
    else if (mark !== undefined) marks.set(event.job, { ...mark, since: iso(at) });
  }
  return jobs.flatMap((job) => {
    const mark = marks.get(job.id);
    return mark === undefined ? [] : [{ ...jobRecord(run, job), ...mark }];
  });
}

function isOfOneOf(ids: ReadonlySet<number>, event: Event): event is Event & { readonly job: number } {
  return "job" in event && typeof event.job === "number" && ids.has(event.job);
}
