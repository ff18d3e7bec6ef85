import { z } from "zod";
import { operation } from "../operation.js";
import { commandDone, commandJob, jobNamed } from "../put-command.js";
import { dryRun, hint, jobId, key, reason, runOfJob } from "../schemas.js";

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
