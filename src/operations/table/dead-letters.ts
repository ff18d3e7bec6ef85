import { z } from "zod";
import { resolveRun } from "../../report/lookup/run-reference.js";
import { listDeadLetters, redriveJob } from "../jobs/dead-letters.js";
import { operation } from "../operation.js";
import { job } from "./record-schemas.js";
import { jobChange, jobId, key, limit, owner, reason, runOfJob, runReference, runStatus } from "./schemas.js";

export const listDeadLettersOperation = operation({
  name: "list_dead_letters",
  summary: "list the jobs that the queue has given up",
  description:
    "Lists dead letters: jobs that failed in every round that `queue.max_attempts` of their workflow allows. Repair the cause, then redrive them (redrive_job).",
  details:
    "Each is a job with its error, how many rounds it has had and since when it is one. They stay until somebody repairs the cause and redrives them (redrive_job), or decides otherwise. `next` is the `after` of the next page, null at the end.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference
      .optional()
      .describe("Only of this run: its number, or last; by default of all runs."),
    limit,
    after: z.coerce.number().int().min(0).optional().describe("Only jobs with a larger id."),
  }),
  output: z.object({
    items: z.array(job.extend({ queue_attempts: z.number(), since: z.string() })),
    next: z.number().nullable(),
  }),
  rest: { method: "GET", path: "/dead_letters" },
  cli: [
    {
      words: "dead-letters",
      positional: ["[run_id]"],
      examples: ["daruma dead-letters", "daruma dead-letters 3 --json"],
    },
  ],
  withoutStore: "empty",
  handler: async ({ store }, { run_id, limit: most, after }) =>
    listDeadLetters(store, {
      limit: most,
      ...(run_id === undefined ? {} : { runId: await resolveRun(store, run_id) }),
      ...(after === undefined ? {} : { after }),
    }),
});

export const redriveJobOperation = operation({
  name: "redrive_job",
  summary: "put a dead letter back into the queue, with all rounds anew",
  description: "Puts a dead letter back into the queue with fresh budgets. Repair the cause first.",
  details:
    "The job runs in a workspace from its checkpoints; what was canceled because of it waits for it again, and a run that is over is reopened. A job that is no dead letter is refused with NOT_DEAD_LETTER.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({ job_id: jobId, run_id: runOfJob, reason, key }),
  output: z.object({
    run_id: z.number(),
    job_id: z.number(),
    step: z.string(),
    scope: z.string(),
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
  handler: (context, input) => redriveJob(context, input),
});
