import { z } from "zod";
import { findJob } from "../../report/lookup/choose-job.js";
import { resolveRun } from "../../report/lookup/run-reference.js";
import { listJobRecords, readJobRecord, reportJobDetails } from "../jobs/job-report.js";
import { decideHolds } from "../jobs/resolve-holds.js";
import { retryJob } from "../jobs/retry-job.js";
import { throwFirstError } from "../jobs/throw-first-error.js";
import { operation } from "../operation.js";
import { error, job } from "./record-schemas.js";
import {
  diagnostics,
  jobId,
  jobStatus,
  json,
  key,
  limit,
  listOf,
  reason,
  runOfJob,
  runReference,
  tokenUsage,
} from "./schemas.js";

export const listJobs = operation({
  name: "list_jobs",
  summary: "list jobs: the steps of runs, with their status",
  description:
    "Lists jobs across runs by id: one job is one step in one run and scope. A job looks the same in every answer; `error` is the whole record of its failure. Filter by status (such as pending_failed), run, workflow or step; `next` is the `after` of the next page, null at the end.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    status: listOf(jobStatus).optional().describe("Only jobs of these statuses, separated by commas."),
    run_id: runReference.optional().describe("Only jobs of this run: its number, or last."),
    workflow_id: z.coerce
      .number()
      .int()
      .positive()
      .optional()
      .describe("Only jobs of runs of this workflow."),
    step: z.string().optional().describe("Only jobs of this step."),
    limit,
    after: z.coerce.number().int().min(0).optional().describe("Only jobs with a larger id."),
  }),
  output: z.object({ items: z.array(job), next: z.number().nullable() }),
  rest: { method: "GET", path: "/jobs", unprefixed: true },
  cli: [
    {
      words: "jobs",
      positional: ["[run_id]"],
      examples: ["daruma jobs last", "daruma jobs --status pending_failed,failed --json"],
    },
  ],
  handler: async ({ store }, { status, run_id, workflow_id, step, limit: most, after }) =>
    listJobRecords(store, {
      limit: most,
      ...(status === undefined ? {} : { status }),
      ...(run_id === undefined ? {} : { runId: await resolveRun(store, run_id) }),
      ...(workflow_id === undefined ? {} : { workflowId: workflow_id }),
      ...(step === undefined ? {} : { step }),
      ...(after === undefined ? {} : { afterId: after }),
    }),
});

export const getJob = operation({
  name: "get_job",
  summary: "show a job: its attempts, errors and output",
  description:
    "One job with its output, `attempt_history`: every attempt with its error (and the tokens that it used, for a model call), and `diagnostics`: which rung of the failure ladder answered each failed attempt and why.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ job_id: jobId, run_id: runOfJob }),
  output: job.extend({
    output: json,
    attempt_history: z.array(
      z.object({
        attempt: z.number(),
        visit: z.number(),
        worker: z.string(),
        status: z.enum(["running", "succeeded", "failed", "stopped"]),
        started_at: z.string(),
        finished_at: z.string().nullable(),
        error: error.nullable(),
        usage: tokenUsage.nullable(),
      }),
    ),
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
  handler: ({ store }, request) => reportJobDetails(store, request),
});

export const updateJob = operation({
  name: "update_job",
  summary: "decide a job that is held: ready runs it again, failed lets it fail",
  description:
    "Decides one hold: `ready` runs the job again with all budgets anew, `failed` lets it fail, which cancels what depends on it. A job that is not in pending_failed is refused with NOT_HELD.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    job_id: jobId,
    run_id: runOfJob,
    status: z.enum(["ready", "failed"]).describe("What becomes of it."),
    reason,
    key,
  }),
  output: job,
  rest: { method: "PUT", path: "/jobs/{job_id}", unprefixed: true },
  cli: [
    {
      words: "job set",
      positional: [],
      examples: [
        'daruma job set 3 build ready --reason "the disk is free again"',
        "daruma job set 30000002 failed",
      ],
    },
  ],
  actsOn: (request) => [{ job: request }],
  handler: async (context, { status, reason: why, key: given, ...request }) => {
    const { id: job_id } = await findJob(context.store, request);
    const action = status === "ready" ? "retry" : "fail";
    const classifications = [{ job_id, action, reason: why } as const];
    throwFirstError(await decideHolds(context, { classifications, dry_run: false, key: given }));
    return readJobRecord(context.store, job_id);
  },
});

export const retryJobOperation = operation({
  name: "retry_job",
  summary: "run a failed or canceled job again, if it has had fewer attempts than max_retries",
  description:
    "Runs a failed or canceled job again, if it has had fewer than max_retries attempts; it then has at most max_retries in all.",
  details:
    "The answer's `attempt_id` is the attempt that this begins. Refused if the job is of another run, is in another status (a held one is decided with update_job, a completed one is gone back to with control_run, resume_from_step), or has had max_retries attempts already. Rules and retries begin no attempt beyond max_retries; attempts that were lost with their worker do not count. Of many who ask at once, one is answered and the others are refused.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    job_id: jobId,
    run_id: runReference.optional().describe("The run that the job belongs to: its number, or last."),
    max_retries: z.coerce
      .number()
      .int()
      .min(1)
      .describe(
        "How many attempts the job may have in all: refused if it has had as many, and a bound for rules and retries that follow.",
      ),
    reason,
    key,
  }),
  output: z.object({
    id: z.number(),
    workflow_id: z.number(),
    name: z.string(),
    status: jobStatus,
    attempt_id: z.number(),
  }),
  rest: { method: "POST", path: "/jobs/{job_id}/retry/{run_id}", unprefixed: true, query: ["max_retries"] },
  cli: [
    {
      words: "job retry",
      positional: [],
      examples: ["daruma job retry 3 build --max-retries 5", "daruma job retry 30000002 --max-retries 5"],
    },
  ],
  actsOn: (request) => [{ job: request }],
  handler: (context, input) => retryJob(context, input),
});
