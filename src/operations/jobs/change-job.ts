import { z } from "zod";
import type { Store } from "../../store/store.js";
import { type JobRecord, jobRecord } from "../../tell/job-record.js";
import { findJob, requireJob } from "../../tell/lookup/choose-job.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import { operation } from "../operation.js";
import { commandDone, commandJob, jobNamed } from "../put-command.js";
import { dryRun, hint, job, jobId, key, reason, runOfJob } from "../schemas.js";
import { decideHolds } from "./resolve-holds.js";
import { throwFirstError } from "./throw-first-error.js";

const input = z.strictObject({
  job_id: jobId,
  run_id: runOfJob,
  choice: z.string().min(1).max(1_000).describe("One of the step's choices, such as approve or reject."),
  text: z.string().max(100_000).default("").describe("A comment; it becomes part of the step's output."),
  reason,
  key,
  dry_run: dryRun,
});

export const answerJob = operation({
  name: "answer_job",
  summary: "answer the question of a human step",
  description:
    "Answers a waiting human step. The choice must be one of the step's choices. Choice and text become the step's output; a rejecting choice fails the step.",
  role: "operator",
  effect: "changes",
  input,
  output: z.object({ ...jobNamed, choice: z.string(), ...commandDone }),
  rest: { method: "POST", path: "/jobs/{job_id}/answer" },
  cli: [
    {
      words: "answer",
      positional: [],
      examples: [
        "daruma answer 3 release --choose approve",
        'daruma answer last release --choose reject --text "not on a Friday"',
      ],
    },
  ],
  actsOn: (request) => [{ job: request }],
  handler: async (context, { choice, text, ...asked }) => {
    const done = await commandJob(context, asked, ({ id: job }, said, words) => {
      return { type: "human.answer", job, choice, text: words.redact(text), ...said };
    });
    return { ...done, choice };
  },
});

export const updateJob = operation({
  name: "update_job",
  summary: "decide a held job: ready runs it again, failed lets it fail",
  description:
    "Decides one hold: `ready` runs the job again with fresh budgets, `failed` fails it and cancels what depends on it. A job that is not held is refused with NOT_HELD.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    job_id: jobId,
    run_id: runOfJob,
    status: z.enum(["ready", "failed"]).describe("The new status."),
    reason,
    hint: hint.describe("For ready: text for the step's next attempts."),
    key,
  }),
  output: job,
  rest: { method: "PUT", path: "/jobs/{job_id}", unprefixed: true },
  cli: [],
  actsOn: (request) => [{ job: request }],
  handler: async (context, { status, reason: why, hint: words, key: given, ...request }) => {
    const { id: job_id } = await findJob(context.store, request);
    const action = status === "ready" ? "retry" : "fail";
    const classifications = [{ job_id, action, reason: why, hint: words } as const];
    throwFirstError(await decideHolds(context, { classifications, dry_run: false, key: given }));
    return readJobRecord(context.store, job_id);
  },
});

async function readJobRecord(store: Store, id: number): Promise<JobRecord> {
  const job = await requireJob(store, id);
  return jobRecord(await requireRun(store, job.run_id), job);
}
