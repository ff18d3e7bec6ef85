import { randomUUID } from "node:crypto";
import { z } from "zod";
import { findJob, type JobRequest } from "../../report/lookup/choose-job.js";
import type { Context } from "../context.js";
import { hintSaid } from "../hints.js";
import { operation } from "../operation.js";
import { redactorFor } from "../operator-words.js";
import { type CommandAnswer, putCommand, tryCommand } from "../put-command.js";
import { dryRun, hint, jobChange, jobId, key, owner, reason, runOfJob, runStatus } from "../schemas.js";

export const redriveJob = operation({
  name: "redrive_job",
  summary: "put a dead letter back into the queue with fresh budgets",
  description: "Puts a dead letter back into the queue with fresh budgets. Repair the cause first.",
  details:
    "The job runs in a workspace from its checkpoints; the steps that were canceled because of it wait for it again, and a finished run is reopened. A job that is not a dead letter is refused with NOT_DEAD_LETTER.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({ job_id: jobId, run_id: runOfJob, reason, hint, key, dry_run: dryRun }),
  output: z.object({
    run_id: z.number(),
    job_id: z.number(),
    step: z.string(),
    scope: z.string(),
    dry_run: z.boolean(),
    before: runStatus,
    status: runStatus,
    changed: z.array(jobChange),
    reason: z.string(),
    key: z.string(),
    owner,
  }),
  rest: { method: "POST", path: "/jobs/{job_id}/redrive" },
  cli: [
    {
      words: "redrive",
      positional: [],
      examples: ['daruma redrive 3 fetch --reason "the registry is back"', "daruma redrive 30000002"],
    },
  ],
  actsOn: (request) => [{ job: request }],
  handler: redrive,
});

/** Back into the queue, with a fresh count of rounds, from the checkpoints. A job that is no dead letter is refused. */
async function redrive(
  context: Context,
  request: JobRequest & {
    readonly reason: string;
    readonly hint?: string | undefined;
    readonly key?: string | undefined;
    readonly dry_run: boolean;
  },
) {
  const job = await findJob(context.store, request);
  const redactor = await redactorFor(context.store, job.run_id);
  const reason = redactor.redact(request.reason);
  const key = request.key ?? randomUUID();
  const command = {
    type: "step.redrive",
    job: job.id,
    reason,
    key,
    ...hintSaid(request.hint, redactor),
  } as const;
  const { dry_run } = request;
  const answer: CommandAnswer = await (dry_run
    ? tryCommand(context.store, job.run_id, command)
    : putCommand(context, job.run_id, command));
  const { before, status, changed, owner } = answer;
  return {
    run_id: job.run_id,
    job_id: job.id,
    step: job.step,
    scope: job.scope,
    dry_run,
    before,
    status,
    changed,
    reason,
    key,
    owner: owner === null ? null : { host: owner.host, pid: owner.pid },
  };
}
