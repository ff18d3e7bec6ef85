import { z } from "zod";
import type { UserData } from "../../core/model/batch/user-data.js";
import type { EventType, LoggedEvent } from "../../core/model/events.js";
import type { AttemptRow, JobRow, RunRow } from "../../core/model/rows.js";
import { jobById } from "../../core/model/run.js";
import { expiryOf } from "../../core/notices/expiry.js";
import { loadRun } from "../../run/engine/load-run.js";
import type { Store } from "../../store/store.js";
import {
  diagnosticsOf,
  PROGRESS,
  patchByAttempt,
  processUsagesOf,
  progressByAttempt,
  SHOWN_USAGE,
  UNKNOWN_USAGE,
  usagesOf,
} from "../../tell/attempt-details.js";
import { jobRecord } from "../../tell/job-record.js";
import { findJob, type JobRequest } from "../../tell/lookup/choose-job.js";
import { readyTimes } from "../../tell/lookup/ready-times.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import { iso, showOutput } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { type Answer, operation } from "../operation.js";
import {
  diagnostics,
  error,
  expiry,
  flag,
  job,
  jobId,
  json,
  raise,
  recordOf,
  runOfJob,
  tokenUsage,
} from "../schemas.js";
import { storedDefinition } from "../workflows/stored-workflows.js";
import { ARTIFACT_KINDS, artifactsThere } from "./read-logs.js";
import { Waits, waitsFor } from "./waits-for.js";

const declaredFile = z.object({
  role: z.enum(["input", "output"]),
  path: z.string(),
  bytes: z.number().nullable(),
  modified_at: z.string(),
  sha256: z.string().nullable(),
});

export const getJob = operation({
  name: "get_job",
  summary: "show a job: its attempts, errors and output",
  description:
    "Returns one job with its output, `attempt_history` (every attempt with its error, files, user data, and what it used) and `diagnostics` (which rung of the failure ladder acted on each failed attempt, and why).",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    job_id: jobId,
    run_id: runOfJob,
    definition: flag.default(false).describe("Also what the workflow file says of the step."),
  }),
  output: job.extend({
    definition: z
      .object({
        type: z.string().describe("The type of the step: command, agent, human and so on."),
        no_progress_limit: z
          .number()
          .nullable()
          .describe("step_no_progress_limit; null: the same failure may come again and again."),
      })
      .nullable()
      .describe("What the workflow file says of the step. Null: not asked for."),
    waits_for: waitsFor,
    expiry,
    output: json,
    taken_over_from: z
      .object({ run_id: z.number(), attempt: z.number() })
      .nullable()
      .describe("The attempt of another run that made its output; null: it ran in this run."),
    attempt_history: z.array(
      z.object({
        attempt: z.number(),
        visit: z.number(),
        worker: z.string(),
        node: z.string().nullable(),
        allocation: z.string().nullable(),
        restart: z.number().nullable(),
        status: z.enum(["running", "succeeded", "failed", "stopped", "suspended"]),
        ready_at: z.string().nullable().describe("When it could begin. Null: not known."),
        started_at: z.string(),
        finished_at: z.string().nullable(),
        error: error.nullable(),
        no_progress: recordOf(PROGRESS).nullable().describe("Of a failed attempt."),
        patch: z
          .string()
          .nullable()
          .describe("What it left in the workspace, as the name of an artifact. Null: nothing was kept."),
        texts: z.array(z.enum(ARTIFACT_KINDS)).describe("What `stream` of get_job_logs can read of it."),
        usage: tokenUsage.nullable(),
        files: z.array(declaredFile),
        user_data: z.record(z.string(), json).describe("What the attempt wrote, by name."),
        ...recordOf(SHOWN_USAGE).shape,
      }),
    ),
    raised: z.array(raise).describe("More memory or runtime that it was given, oldest first."),
    diagnostics,
  }),
  rest: { method: "GET", path: "/jobs/{job_id}", unprefixed: true },
  cli: [
    {
      words: "job show",
      positional: [],
      examples: ["daruma job show last build", "daruma job show 30000002"],
    },
  ],
  handler: reportJobDetails,
});

/** To find the one step takes as long as to read the whole definition. */
async function readStep(store: Store, run: RunRow, { id, step }: JobRow) {
  const { definition } = await storedDefinition(store, { ...run, name: run.workflow });
  // What the program of a flow has called stands in the log.
  const found =
    definition.steps.find((each) => each.id === step) ??
    jobById((await loadRun(store, run.id)).run, id).step.definition;
  const { action, noProgressLimit } = found;
  return { type: action.type, no_progress_limit: noProgressLimit };
}

async function reportJobDetails(context: Context, request: JobRequest & { readonly definition: boolean }) {
  const { store, outputDir } = context;
  const job = await findJob(store, request);
  const { id } = job;
  const run = await requireRun(store, job.run_id);
  const record = jobRecord(run, job);
  const attempts = await store.readAttempts(run.id, id);
  const log = await store.readEvents(run.id, { job: id });
  // These events concern several jobs, and begin a new visit of each.
  const retried = job.visit > 1 ? await store.readEvents(run.id, { types: ["jobs.retried"] }) : [];
  const usages = usagesOf(log);
  const usageIn = new Map(usages.map(({ job_id: _job, attempt, ...usage }) => [attempt, usage]));
  const filesIn = filesByAttempt(log);
  const userDataIn = userDataByAttempt(log);
  const processUsageIn = processUsagesOf(log);
  const readyIn = await readyTimes(store, job, log);
  const progressIn = progressByAttempt(log);
  const patchIn = patchByAttempt(await withRebuilds(store, run.id, log), id);
  const textsIn = (attempt: number) =>
    artifactsThere(outputDir, { workflowId: run.workflow_id, jobId: id, runId: run.id, attempt });
  return {
    ...record,
    definition: request.definition ? await readStep(store, run, job) : null,
    waits_for: await new Waits(context).of(run, record),
    expiry: job.unanswered ? expiryIn(log) : null,
    output: showOutput(job.output),
    taken_over_from: takenFrom(log),
    attempt_history: attempts
      .sort((first, second) => first.attempt - second.attempt)
      .map((attempt) => ({
        ...reportAttempt(attempt),
        ready_at: isoOrNull(readyIn.get(attempt.attempt)),
        no_progress: progressIn.get(attempt.attempt) ?? null,
        patch: patchIn.get(attempt.attempt) ?? null,
        texts: textsIn(attempt.attempt),
        usage: usageIn.get(attempt.attempt) ?? null,
        files: filesIn.get(attempt.attempt) ?? [],
        user_data: userDataIn.get(attempt.attempt) ?? {},
        ...(processUsageIn.get(attempt.attempt) ?? UNKNOWN_USAGE),
      })),
    raised: raisesIn(
      [...log, ...retried].sort((first, second) => first.seq - second.seq),
      id,
    ),
    diagnostics: diagnosticsOf([job], log),
  };
}

/** What a failed attempt left is also kept by rebuilds, which may be about other jobs. */
async function withRebuilds(store: Store, runId: number, log: readonly LoggedEvent[]) {
  const hasLeftSome = log.some(
    ({ event }) => event.type === "attempt.failed" && (event.error.diff_hash ?? null) !== null,
  );
  if (!hasLeftSome) return log;
  return [...log, ...(await store.readEvents(runId, { types: ["rebuild.finished"] }))];
}

function isoOrNull(at: number | undefined): string | null {
  return at === undefined ? null : iso(at);
}

function takenFrom(log: readonly LoggedEvent[]): { run_id: number; attempt: number } | null {
  const { event } = log.findLast(({ event: { type } }) => LAST_RESULT.has(type)) ?? {};
  if (event?.type !== "job.reused") return null;
  return { run_id: event.origin.run, attempt: event.origin.attempt };
}

const LAST_RESULT: ReadonlySet<EventType> = new Set(["job.reused", "attempt.started"]);

/** Limits that a rule, a recovery or an operator has raised. */
function raisesIn(log: readonly LoggedEvent[], jobId: number): Answer<typeof raise>[] {
  return log.flatMap(({ event }) => {
    if (event.type === "rule.reserved" && event.job === jobId && event.raised !== undefined)
      return [{ ...event.raised }];
    if (event.type !== "jobs.retried") return [];
    return (event.raised ?? []).flatMap(({ job: of, ...each }) => (of === jobId ? [each] : []));
  });
}

/** Declared files as each attempt that succeeded found and left them. */
function filesByAttempt(log: readonly LoggedEvent[]): ReadonlyMap<number, Answer<typeof declaredFile>[]> {
  const files = new Map<number, Answer<typeof declaredFile>[]>();
  for (const { event } of log) {
    if (event.type !== "attempt.succeeded" || event.files === undefined) continue;
    const shown = event.files.map(({ modified_at: modifiedAt, ...file }) => ({
      ...file,
      modified_at: iso(modifiedAt),
    }));
    files.set(event.attempt, shown);
  }
  return files;
}

function userDataByAttempt(log: readonly LoggedEvent[]): ReadonlyMap<number, UserData> {
  return new Map(
    log.flatMap(({ event }): [number, UserData][] =>
      event.type === "attempt.succeeded" && event.user_data !== undefined
        ? [[event.attempt, event.user_data]]
        : [],
    ),
  );
}

/** Its token stays here: it marks the attempt's processes. */
function reportAttempt(row: AttemptRow) {
  const { attempt, visit, worker, node, allocation, restart, status, started_at, finished_at, error } = row;
  return {
    attempt,
    visit,
    worker,
    node,
    allocation,
    restart,
    status,
    started_at: iso(started_at),
    finished_at: finished_at === null ? null : iso(finished_at),
    error,
  };
}

/** The expiry of what the job waits for now. Earlier waits are over. */
function expiryIn(log: readonly LoggedEvent[]) {
  const last = log.findLast(({ event: { type } }) => type === "job.held" || type === "human.asked")?.event;
  return last?.type === "job.held" || last?.type === "human.asked" ? expiryOf(last) : null;
}
