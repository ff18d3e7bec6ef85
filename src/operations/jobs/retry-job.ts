import { z } from "zod";
import { requireJob } from "../../tell/lookup/choose-job.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import { operation } from "../operation.js";
import { commandDone, commandJob, jobNamed } from "../put-command.js";
import { dryRun, hint, jobId, jobStatus, key, reason, runOfJob, runReference } from "../schemas.js";

const input = z.strictObject({
  job_id: jobId,
  run_id: runReference.optional().describe("The run that the job belongs to: its number, or last."),
  max_retries: z.coerce
    .number()
    .int()
    .min(1)
    .describe("How many attempts the job may have in total, those of later rules and retries included."),
  reason,
  hint,
  key,
  dry_run: dryRun,
});

export const retryJob = operation({
  name: "retry_job",
  summary: "run a failed or canceled job again, if it has had fewer attempts than max_retries",
  description:
    "Runs a failed or canceled job again, if it has had fewer than max_retries attempts; it then has at most max_retries attempts in total.",
  details:
    "`attempt_id` in the answer is the attempt that this starts. Refused if the job belongs to another run, has another status (decide a held job with update_job; go back to a completed one with control_run, resume_from_step), or has already had max_retries attempts. Rules and retries start no attempt beyond max_retries; attempts that were lost with their worker do not count. Of several simultaneous requests, one succeeds and the others are refused.",
  role: "operator",
  effect: "changes",
  input,
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
  handler: async (context, { max_retries: maxAttempts, ...request }) => {
    // Status and attempts are looked at where the retry is decided: of many who ask at once, one is not refused.
    const done = await commandJob(context, request, ({ id: job }, said) => {
      return { type: "step.retry", job, maxAttempts, ...said };
    });
    const { job_id: id, run_id, step: name, changed } = done;
    const { workflow_id } = await requireRun(context.store, run_id);
    const change = changed.find(({ job_id }) => job_id === id);
    const { status, attempt_id } = change
      ? { ...change, status: change.to }
      : await requireJob(context.store, id);
    return { id, workflow_id, name, status, attempt_id };
  },
});

export const redriveJob = operation({
  name: "redrive_job",
  summary: "put a dead letter back into the queue with fresh budgets",
  description: "Puts a dead letter back into the queue with fresh budgets. Repair the cause first.",
  details:
    "The job runs in a workspace from its checkpoints; the steps that were canceled because of it wait for it again, and a finished run is reopened. A job that is not a dead letter is refused with NOT_DEAD_LETTER.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({ job_id: jobId, run_id: runOfJob, reason, hint, key, dry_run: dryRun }),
  output: z.object({ ...jobNamed, ...commandDone }),
  rest: { method: "POST", path: "/jobs/{job_id}/redrive" },
  cli: [
    {
      words: "redrive",
      positional: [],
      examples: ['daruma redrive 3 fetch --reason "the registry is back"', "daruma redrive 30000002"],
    },
  ],
  actsOn: (request) => [{ job: request }],
  handler: (context, request) =>
    commandJob(context, request, ({ id: job }, said) => ({ type: "step.redrive", job, ...said })),
});
