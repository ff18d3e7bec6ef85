import { z } from "zod";
import type { Store } from "../../store/store.js";
import { type JobRecord, jobRecord } from "../../tell/job-record.js";
import { findJob, requireJob } from "../../tell/lookup/choose-job.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import { operation } from "../operation.js";
import { job } from "../record-schemas.js";
import { hint, jobId, key, reason, runOfJob } from "../schemas.js";
import { decideHolds } from "./resolve-holds.js";
import { throwFirstError } from "./throw-first-error.js";

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
