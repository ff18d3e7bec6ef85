import { z } from "zod";
import { ADVICE_KINDS } from "../../report/advice.js";
import { operation } from "../operation.js";
import { explainRun } from "../runs/explain-run.js";
import { describeRun, JOB_CHOICES } from "../runs/run-details.js";
import { listRunReports } from "../runs/run-list.js";
import { error, job, waitingJob } from "./record-schemas.js";
import {
  diagnostics,
  flag,
  json,
  limit,
  listOf,
  runReference,
  runStatus,
  tokenUsage,
  variables,
} from "./schemas.js";

const interrupted = z
  .boolean()
  .describe(
    "The run wants an engine and nobody runs it: its process ended. Derived at the moment of asking; `status` stays what the log says.",
  );

const imported = z.boolean().describe("It was imported: it can only be read, and nothing of it is executed.");

const runItem = z.object({
  run_id: z.number(),
  workflow: z.string(),
  workflow_id: z.number(),
  status: runStatus,
  interrupted,
  imported,
  file: z.string().nullable(),
  parent: z.object({ run_id: z.number(), job_id: z.number() }).nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  error: error.nullable(),
});

export const listRuns = operation({
  name: "list_runs",
  summary: "list runs, the newest first",
  description:
    "Lists runs with their status, the newest first. Filter by status or workflow; `next` is the `before` of the next page, null at the end.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    status: listOf(runStatus).optional().describe("Only runs of these statuses, separated by commas."),
    workflow: z.string().optional().describe("Only runs of the workflow of this name."),
    interrupted: flag.default(false).describe("Only runs that want an engine and that nobody runs."),
    limit: limit.default(20),
    before: z.coerce.number().int().positive().optional().describe("Only runs with a smaller number."),
  }),
  output: z.object({ items: z.array(runItem), next: z.number().nullable() }),
  rest: { method: "GET", path: "/runs" },
  cli: [
    {
      words: "list",
      positional: [],
      examples: ["daruma list", "daruma list --status failed,held --limit 5 --json"],
    },
  ],
  withoutStore: "empty",
  handler: ({ store }, input) => listRunReports(store, input),
});

const routeReport = z.object({
  seq: z.number(),
  at: z.string(),
  step: z.string(),
  scope: z.string(),
  attempt: z.number(),
  rung: z.string(),
  to: z.string(),
  reason: z.string(),
});

const failureShape = z.object({
  job_id: z.number(),
  step: z.string(),
  scope: z.string(),
  code: z.string(),
  message: z.string(),
});

const liveControl = z.object({
  paused: z.boolean(),
  takeover: z.boolean(),
  recovery: z
    .object({
      action: z.enum(["retry_step", "hard_reset_step", "resume_from_step", "redrive"]),
      stepId: z.string(),
      updatedAt: z.string(),
    })
    .nullable(),
});

export const runDetails = z.object({
  run_id: z.number(),
  workflow: z.string(),
  workflow_id: z.number(),
  status: runStatus,
  interrupted,
  imported,
  jobs: z.array(job.extend({ output: json })),
  routes: z.array(routeReport),
  handled_failures: z.array(failureShape),
  error: error.nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  state: json,
  liveControl,
  left_alone: z.object({ host: z.string(), message: z.string() }).nullable(),
  diagnostics,
  usage: z.array(tokenUsage.extend({ job_id: z.number(), attempt: z.number() })),
  summary: z.object({
    counts: z.array(z.string()),
    failures: z.array(
      failureShape.extend({
        attempt: z.number(),
        stdout_tail: z.string().nullable(),
        stderr_tail: z.string().nullable(),
        stdout_file: z.string().nullable(),
        stderr_file: z.string().nullable(),
      }),
    ),
    holds: z.array(waitingJob),
    endings: z.array(z.object({ step: z.string(), text: z.string() })),
  }),
});

export const getRun = operation({
  name: "get_run",
  summary: "show a run: its jobs, routes, errors and state",
  description:
    "One run: its status, a `summary` with the unhandled failures, holds and questions, its jobs with status, attempts, error and output (`jobs` chooses which), and the failure routes that were taken.",
  details:
    "`diagnostics` is what the ladder made of each failed attempt of the jobs shown; `state` that of each scope; `liveControl`, whether somebody has paused the run or taken it over and what was last asked to be done about a step; `left_alone`, the last server that could not have its workspace, while nobody goes on with it; `usage`, the tokens of its model calls.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    jobs: z
      .enum(JOB_CHOICES)
      .default("all")
      .describe("Which jobs: all, only those that failed and have not completed since, or none."),
  }),
  output: runDetails,
  rest: { method: "GET", path: "/runs/{run_id}" },
  cli: [
    {
      words: "show",
      positional: ["run_id"],
      examples: ["daruma show 3", "daruma show last --jobs failed", "daruma show last --json"],
    },
  ],
  // Of a large run the others are many, and tell little; list_jobs has them page by page.
  forAgents: () => ({ jobs: "failed" }),
  handler: (context, { run_id, jobs }) => describeRun(context, run_id, jobs),
});

export const explainRunOperation = operation({
  name: "explain_run",
  summary: "tell why a run, or one step of it, went as it did",
  description:
    "Why a run went as it did: what failed, what was tried, what it blocks, and in `advice` what can be done now, as `calls` of operations. Jobs that failed alike are told once; `full` tells each, with every rung of the failure ladder, its reason and its cost. Read this first when a run did not go as expected.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    step: z
      .string()
      .optional()
      .describe("Only this job (a step, step@scope or a job id), even if nothing went wrong there."),
    full: flag
      .default(false)
      .describe("Every job by itself, with every rung that was considered, its reason, and every cost."),
  }),
  output: z.object({
    run_id: z.number(),
    step: z.string().nullable(),
    interrupted,
    lines: z.array(z.string()).describe("The story."),
    advice: z
      .array(
        z.object({
          kind: z.enum(ADVICE_KINDS),
          text: z.string(),
          command: z.string().nullable().describe("Ready to be typed; null: there is nothing to type."),
          argv: z
            .array(z.array(z.string()))
            .describe("The same command for command, as the words after `daruma`."),
          calls: z
            .array(z.object({ operation: z.string(), input: variables }))
            .describe(
              "The same as operations with their input, to be asked for in this order; fork_run also takes the mended text, as `source`.",
            ),
        }),
      )
      .describe("What can be done about the run as it stands, the first thing first."),
    text: z.string().describe("Story and advice, for people."),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/explanation" },
  cli: [
    {
      words: "explain",
      positional: ["run_id", "[step]"],
      examples: [
        "daruma explain 3",
        "daruma explain last build",
        "daruma explain last 'visit@cities[1]' --full",
      ],
    },
  ],
  handler: (context, input) => explainRun(context, input),
});
