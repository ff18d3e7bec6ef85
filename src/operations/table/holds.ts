import { z } from "zod";
import { listHolds } from "../../report/holds.js";
import { resolveRun } from "../../report/lookup/run-reference.js";
import { resolveHolds } from "../jobs/resolve-holds.js";
import { operation } from "../operation.js";
import { waitingJob } from "./record-schemas.js";
import {
  flag,
  jobChange,
  jobId,
  json,
  key,
  owner,
  reason,
  runOfJob,
  runReference,
  runStatus,
} from "./schemas.js";

export const listPendingFailedJobs = operation({
  name: "list_pending_failed_jobs",
  summary: "list what waits for somebody: holds, and the open questions of human steps",
  description:
    "Lists jobs that wait for somebody. `kind` hold: failed, and the workflow leaves it to you; `error` has what a decision needs. `kind` question: a human step asks `question`. `decisions` has the operation and input of each way to go on.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference
      .optional()
      .describe("Only of this run: its number, or last; by default of all runs."),
    workflow_id: z.coerce
      .number()
      .int()
      .positive()
      .optional()
      .describe("Only of runs of this version of a workflow, by its id."),
  }),
  output: z.object({ items: z.array(waitingJob) }),
  rest: { method: "GET", path: "/holds" },
  cli: [{ words: "holds", positional: ["[run_id]"], examples: ["daruma holds", "daruma holds 3 --json"] }],
  handler: async ({ store }, { run_id, workflow_id: workflowId }) => {
    const runId = run_id === undefined ? undefined : await resolveRun(store, run_id);
    return { items: await listHolds(store, { runId, workflowId }) };
  },
});

const MAX_CLASSIFICATIONS = 10_000;

export const classifyAndResolveFailures = operation({
  name: "classify_and_resolve_failures",
  summary: "decide holds: run again, fail, skip, or complete with an output; all that are named or none",
  description:
    "Decides holds, all or none; `job_id` is the `id` of a hold. `retry` runs the job again with fresh budgets (for outages and repaired causes); `fail` lets it fail and cancels what depends on it; `skip` goes on without it; `complete` goes on as if it had given `output`. Use `dry_run` first.",
  details:
    "Every decision is checked before any is taken: if one is refused, nothing is changed and the refusal is DECISIONS_REFUSED, whose `results` say which and why. The decisions of one run are taken together in one transaction; of several runs one run after the other. With `dry_run` nothing is changed and the answer says what would be, refusals included.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    classifications: z
      .array(
        z.strictObject({
          job_id: jobId,
          action: z.enum(["retry", "fail", "skip", "complete"]),
          reason,
          output: json.optional().describe("What the job gives, for complete."),
        }),
      )
      .min(1)
      .max(MAX_CLASSIFICATIONS)
      .describe("One decision for each job."),
    run_id: runOfJob,
    dry_run: flag.default(false).describe("Only say what would happen."),
    key,
  }),
  output: z.object({
    applied: z.boolean(),
    dry_run: z.boolean(),
    key: z.string(),
    results: z.array(
      z.object({
        job_id: z.union([z.number(), z.string()]),
        run_id: z.number().nullable(),
        step: z.string().nullable(),
        scope: z.string().nullable(),
        action: z.string(),
        reason: z.string(),
        ok: z.boolean(),
        error: z.object({ code: z.string(), message: z.string() }).nullable(),
      }),
    ),
    runs: z.array(
      z.object({
        run_id: z.number(),
        before: runStatus,
        status: runStatus,
        changed: z.array(jobChange),
        owner,
      }),
    ),
  }),
  rest: { method: "POST", path: "/holds/resolve" },
  cli: [
    {
      words: "resolve",
      positional: [],
      examples: [
        'daruma resolve 3 build --retry --reason "the disk is free again"',
        'daruma resolve 3 30000002 visit@cities[1] --skip --reason "not needed today"',
        `daruma resolve 3 fetch --complete '{"rows": 0}' --reason "no data on Sundays" --dry-run`,
        'daruma resolve last --all --fail --reason "wrong branch"',
      ],
    },
  ],
  actsOn: ({ classifications, run_id }) => classifications.map(({ job_id }) => ({ job: { job_id, run_id } })),
  handler: (context, input) => resolveHolds(context, input),
});
