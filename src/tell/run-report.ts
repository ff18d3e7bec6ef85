import { DEFAULT_PRIORITY, type RunConcurrency } from "../core/groups/concurrency.js";
import type { Output } from "../core/model/events.js";
import type { ErrorRecord } from "../core/model/failure.js";
import {
  HANDLING_FIELDS,
  type JobRow,
  type RouteRow,
  type RunRow,
  type RunStatus,
} from "../core/model/rows.js";
import type { Run } from "../core/model/run.js";
import { seenLastError } from "../core/model/seen-error.js";
import { iso } from "../core/text/iso-time.js";
import type { Json } from "../core/text/json.js";
import type { Labels } from "../core/text/labels.js";
import { noted, nullable, number, type OfFields, text, word } from "../core/text/shape.js";
import type { Store } from "../store/store.js";
import { type DecidedJob, decidedJobs } from "./decided-jobs.js";
import { type HandledChild, handledInChildren } from "./handled-in-children.js";
import { type JobRecord, jobRecord } from "./job-record.js";
import { type HeldChild, heldBelow } from "./lookup/held-below.js";
import { isImported } from "./lookup/own-runs.js";
import { interruptedRuns } from "./lookup/run-owner.js";
import { programOf, type RunProgram } from "./lookup/run-program.js";
import { requireRun } from "./lookup/run-reference.js";

/** A job that was to be undone, and the step that was to do it. */
export const UNDONE_JOB = {
  job_id: number,
  step: text,
  scope: text,
  by: noted(nullable(text), "The step that undoes it; null: its turn has not come."),
} as const;
export type UndoneJob = OfFields<typeof UNDONE_JOB>;

/** What a run that failed or was canceled has undone, and what it has left: not yet, not at all, or not completely. */
interface Undone {
  readonly done: readonly UndoneJob[];
  readonly left: readonly UndoneJob[];
}

/** Null if nothing had to be undone. */
async function readUndone(store: Store, { id, tally }: RunRow): Promise<Undone | null> {
  if (tally?.ending?.undone !== true) return null;
  const log = await store.readEvents(id, { types: ["undo.started", "undo.entered", "undo.left"] });
  const names = new Map((await store.readJobNames(id)).map((name) => [name.id, name]));
  const found = new Map<number, { by: string | null; undone: boolean }>();
  for (const { event } of log) {
    if (event.type === "undo.started")
      for (const job of event.jobs) found.set(job, { by: null, undone: false });
    else if (event.type === "undo.entered")
      found.set(event.of, { by: names.get(event.job)?.step ?? null, undone: false });
    else if (event.type === "undo.left") found.get(event.of)!.undone = event.undone;
  }
  const jobs = (undone: boolean) =>
    [...found].flatMap(([job_id, how]): UndoneJob[] => {
      const { step = "", scope = "root" } = names.get(job_id) ?? {};
      return how.undone === undone ? [{ job_id, step, scope, by: how.by }] : [];
    });
  return { done: jobs(true), left: jobs(false) };
}

export { iso } from "../core/text/iso-time.js";

/** What `--json` prints for a run. Times are ISO 8601. */
export interface RunReport extends RunTimes {
  readonly run_id: number;
  readonly workflow: string;
  readonly workflow_id: number;
  readonly status: RunStatus;
  /** It wants an engine, and nobody runs it: `status` is what the log says, this is how it is at the moment. */
  readonly interrupted: boolean;
  /** It was exported elsewhere and can only be read here. */
  readonly imported: boolean;
  /** A handled failure makes the exit code 1, and reports tell it as a failure. */
  readonly strict: boolean;
  /** The program whose functions are its steps, and which alone goes on with it; null: any process can, or servers do. */
  readonly needs_program: RunProgram | null;
  /** The run from which it took jobs over; null: everything was its own. */
  readonly taken_over: { readonly run_id: number; readonly jobs: number } | null;
  readonly labels: Labels;
  /** Its group and the conditions of its place; null: it needs none. */
  readonly concurrency: RunConcurrency | null;
  readonly priority: number;
  readonly jobs: readonly JobReport[];
  readonly routes: readonly RouteReport[];
  readonly handled_failures: readonly HandledFailure[];
  /** Jobs that did not run because of a failure that is handled. */
  readonly skipped_by_failure: readonly SkippedByFailure[];
  /** Jobs that were held and then skipped or completed, by somebody or because nobody decided in time. */
  readonly decided: readonly DecidedJob[];
  /** For a completed run: its child runs with handled failures or decided jobs, or that are open. */
  readonly handled_in_children: readonly HandledChild[];
  /** Its child runs about which somebody has to decide, where it waits for nothing else: it stands as one that is held. */
  readonly held_below: readonly HeldChild[];
  readonly error: ErrorRecord | null;
  /** What a run that is about to end is at; null: it is not, or is over. */
  readonly phase: "undo" | "finally" | null;
  /**
   * For a run that failed or was canceled: what it has undone and what it has left. Null if there was nothing to undo.
   */
  readonly undone: Undone | null;
}

interface RunTimes {
  readonly created_at: string;
  readonly finished_at: string | null;
  readonly duration_ms: number | null;
}

export interface JobReport extends JobRecord {
  readonly output: Json;
}

const AT_STEP = { step: text, scope: text } as const;
export const ROUTE_REPORT = {
  seq: number,
  at: text,
  ...AT_STEP,
  attempt: number,
  rung: word<RouteRow["rung"]>(),
  to: text,
  reason: text,
} as const;
export type RouteReport = OfFields<typeof ROUTE_REPORT>;
export const FAILED_JOB = { job_id: number, ...AT_STEP, code: text, message: text } as const;
export const HANDLED_FAILURE = { ...FAILED_JOB, ...HANDLING_FIELDS } as const;
type HandledFailure = OfFields<typeof HANDLED_FAILURE>;
/** `failure` is the step that failed, in `failure_job_id`. */
export const SKIPPED_BY_FAILURE = {
  job_id: number,
  ...AT_STEP,
  failure: text,
  failure_job_id: number,
} as const;
type SkippedByFailure = OfFields<typeof SKIPPED_BY_FAILURE>;

/** A run of very many jobs has them read one page after the other. */
const JOBS_PER_PAGE = 1_000;

export async function reportRun(store: Store, runId: number): Promise<RunReport> {
  const { report, jobs } = await openReport(store, runId);
  const all: JobReport[] = [];
  for await (const job of jobs) all.push(job);
  return { ...report, jobs: all };
}

/** A report whose jobs are still to be read, for callers that do not need all of them at once. */
interface OpenReport {
  /** Without jobs. */
  readonly report: RunReport;
  /** To be read once. */
  readonly jobs: AsyncIterable<JobReport>;
}

export async function openReport(store: Store, runId: number): Promise<OpenReport> {
  const run = await requireRun(store, runId);
  const [failed, routes] = await Promise.all([
    store.listJobs({ runId, status: ["failed"] }),
    store.readRoutes(runId),
  ]);
  const skipped = failed.some(({ handled }) => handled)
    ? await store.listJobs({ runId, status: ["skipped"] })
    : [];
  const interrupted = (await interruptedRuns(store, [run])).has(runId);
  const undone = await readUndone(store, run);
  const built = buildReport(run, [...failed, ...skipped], routes, interrupted);
  const report = {
    ...{ ...built, jobs: [], undone },
    decided: await decidedJobs(store, run),
    handled_in_children: await handledInChildren(store, run),
    held_below: await heldBelow(store, run),
  };
  return { report, jobs: jobsOf(store, run) };
}

async function* jobsOf(store: Store, run: RunRow): AsyncGenerator<JobReport> {
  for (let afterId: number | undefined = 0; afterId !== undefined; ) {
    const page: JobRow[] = await store.listJobs({ runId: run.id, afterId, limit: JOBS_PER_PAGE });
    for (const job of page) yield jobReport(run, job);
    afterId = page.length < JOBS_PER_PAGE ? undefined : page.at(-1)!.id;
  }
}

export function buildReport(
  run: RunRow,
  jobs: readonly JobRow[],
  routes: readonly RouteRow[],
  interrupted = false,
): RunReport {
  return {
    run_id: run.id,
    workflow: run.workflow,
    workflow_id: run.workflow_id,
    status: run.status,
    interrupted,
    imported: isImported(run),
    strict: run.options.strict === true,
    needs_program: programOf(run),
    taken_over: takenOverBy(run),
    labels: run.labels ?? {},
    concurrency: run.concurrency,
    priority: run.priority ?? DEFAULT_PRIORITY,
    jobs: jobs.map((job) => jobReport(run, job)),
    routes: routes.map(({ seq, at, step, scope, attempt, rung, to, reason }) => ({
      seq,
      at: iso(at),
      step,
      scope,
      attempt,
      rung,
      to,
      reason,
    })),
    handled_failures: jobs
      .filter((job) => job.status === "failed" && job.handled && job.handling?.how !== "program")
      .map((job) => ({
        job_id: job.id,
        step: job.step,
        scope: job.scope,
        code: job.error?.code ?? "",
        message: job.error?.message ?? "",
        ...(job.handling ?? { how: "edge", by: null, then: null }),
      })),
    skipped_by_failure: skippedByFailure(jobs),
    decided: [],
    handled_in_children: [],
    held_below: [],
    error: run.error,
    phase: run.tally?.ending?.phase ?? null,
    undone: null,
    ...timesOf(run),
  };
}

function skippedByFailure(jobs: readonly JobRow[]): SkippedByFailure[] {
  const stepOf = new Map(jobs.map(({ id, step }) => [id, step]));
  return jobs.flatMap(({ id, step, scope, skipped_by: failure }) =>
    failure === null
      ? []
      : [{ job_id: id, step, scope, failure: stepOf.get(failure) ?? "", failure_job_id: failure }],
  );
}

function takenOverBy({ options: { reused } }: RunRow): RunReport["taken_over"] {
  return reused?.from == null ? null : { run_id: reused.from, jobs: reused.jobs };
}

function jobReport(run: RunRow, job: JobRow): JobReport {
  return Object.assign(jobRecord(run, job), { output: showOutput(job.output) });
}

/** When a run was, for people and programs. */
export function timesOf({ created_at, started_at, finished_at }: RunRow): RunTimes {
  return {
    created_at: iso(created_at),
    finished_at: finished_at === null ? null : iso(finished_at),
    duration_ms: finished_at === null || started_at === null ? null : Math.max(0, finished_at - started_at),
  };
}

/** A large output is shown as where it lies. */
export function showOutput(output: Output | null): Json {
  if (output === null) return null;
  if (output.kind === "value") return output.value;
  return { artifact: output.path, bytes: output.bytes, sha256: output.sha256, preview: output.preview };
}

/** `state` of a run in which nothing has failed. */
export const NOTHING_FAILED: Json = { root: { _last_error: null } };

/** `state` of each scope that has any. */
export function reportState(run: Run): Json {
  const state: { [scope: string]: Json } = {};
  for (const scope of run.scopes.values()) {
    if (scope.parent === null || scope.lastError !== null)
      state[scope.id] = { _last_error: seenLastError(scope.lastError) };
  }
  return state;
}
