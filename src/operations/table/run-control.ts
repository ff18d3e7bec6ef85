import { z } from "zod";
import { operation } from "../operation.js";
import { CONTROL_ACTIONS, controlRun } from "../runs/control-run.js";
import { startRun } from "../runs/start-run.js";
import {
  fileName,
  flag,
  jobChange,
  key,
  name,
  owner,
  reason,
  runReference,
  runStatus,
  scope,
  source,
  step,
  variables,
} from "./schemas.js";

/** A run that has begun. */
export const started = z.object({
  run_id: z.number(),
  workflow: z.string(),
  workflow_id: z.number(),
  version: z.number(),
  status: runStatus,
  folder: z
    .string()
    .nullable()
    .describe("Where its steps work and relative paths start; null: a folder of its own on each worker."),
});
const budget = z.coerce.number().int().min(0).optional();

export const startRunOperation = operation({
  name: "start_run",
  summary: "run a workflow",
  description:
    "Starts a run of a stored workflow (`workflow`) or of a workflow text (`source`). It answers as soon as the run is recorded; follow it with get_run. Inputs are stored as they are: never put a secret there.",
  details:
    "What looks like a password or token in inputs or context is refused: secrets belong in the environment of the worker and are named under `secrets` in the workflow.",
  role: "operator",
  effect: "changes",
  makesRun: true,
  input: z.strictObject({
    workflow: z
      .union([z.number().int().positive(), name])
      .optional()
      .describe("A stored workflow: its name, or its id."),
    version: z.coerce
      .number()
      .int()
      .positive()
      .optional()
      .describe("Which version of it; by default the newest."),
    source: source.optional(),
    file_name: fileName,
    folder: z
      .string()
      .max(4_096)
      .optional()
      .describe("An absolute path from which relative ones start; by default a folder of its own."),
    inputs: variables.default({}).describe("Inputs of the workflow, by name."),
    context: variables
      .default({})
      .describe("More variables for expressions and templates, such as pr and files."),
    max_loops: budget.describe("Overrides routing.max_loops."),
    retry_max: budget.describe("Overrides every step's retry.max."),
    failure_routing: flag
      .default(true)
      .describe("False: a failure fails its step at once; only restarts after a lost worker stay."),
    only: z
      .string()
      .optional()
      .describe("One attempt of this step (more only after a lost worker), and nothing else."),
    key: key.describe("The same key again starts nothing: the answer is the run that it started."),
  }),
  output: started,
  rest: { method: "POST", path: "/runs", status: 201 },
  cli: [
    {
      words: "run",
      summary: "run a workflow file to its end",
      positional: [],
      examples: [
        "daruma run release.yaml",
        "daruma run release.yaml --input target=production --max-parallel 4",
        "daruma run release.yaml --only test --verbose",
        "daruma run release.yaml --json > result.json",
        "daruma run release.yaml --server http://127.0.0.1:7420 --detach",
      ],
    },
  ],
  handler: (context, input) => startRun(context, input),
});

const MAX_WAIT_MS = 30_000;

export const controlRunOperation = operation({
  name: "control_run",
  summary: "steer a run: pause, resume, cancel, take over, retry a step",
  description:
    "Steers a run. `pause`: nothing new starts; `takeover`: the same, claimed for work by hand; `resume`: lifts a pause, or continues an interrupted run; `cancel`: ends it; `retry_step`: runs a failed, canceled or held step again with fresh budgets; `resume_from_step`: goes back to any step; `hard_reset_step`: runs a step again in a workspace rebuilt from checkpoints; `reset_failed`: runs all that failed again.",
  details:
    "It works whichever process runs the run. `retry_step` and `resume_from_step` also work on a run that is over; `retry_step` with `force` takes a completed step too, which is resume_from_step. `resume_from_step` runs the step and what depends on it again, in a workspace from the checkpoints before it. `hard_reset_step` costs no budget. `reset_failed` leaves handled failures alone. While a step is at work in the workspace, `hard_reset_step` and `resume_from_step` are refused with WORKSPACE_BUSY unless `force` ends it. The answer says what changed.",
  role: "operator",
  effect: "changes",
  input: z.strictObject({
    run_id: runReference,
    action: z.enum(CONTROL_ACTIONS).describe("What to do."),
    stepId: step.optional().describe("For the actions on a step: its id, step@scope, or a job's id."),
    scope,
    force: flag
      .default(false)
      .describe(
        "retry_step: also back to a completed step. hard_reset_step, resume_from_step: although a step is at work in the workspace; that step is ended first.",
      ),
    reason,
    key,
    wait_ms: z.coerce
      .number()
      .int()
      .min(0)
      .max(MAX_WAIT_MS)
      .default(0)
      .describe("How long to wait for a canceled run's processes to end."),
  }),
  output: z.object({
    run_id: z.number(),
    action: z.enum(CONTROL_ACTIONS),
    before: runStatus,
    status: runStatus,
    changed: z.array(jobChange),
    target: z.object({ job_id: z.number(), step: z.string(), scope: z.string() }).nullable(),
    running: z.number(),
    reason: z.string(),
    key: z.string(),
    owner,
  }),
  rest: { method: "POST", path: "/runs/{run_id}/control" },
  cli: [
    {
      words: "resume",
      summary:
        "go on with a run that was interrupted, paused or resolved; tell the result of one that is over",
      positional: ["run_id"],
      preset: { action: "resume" },
      examples: ["daruma resume 3", "daruma resume last --json"],
    },
    {
      words: "cancel",
      summary: "cancel a run, whichever process runs it",
      positional: ["run_id"],
      preset: { action: "cancel" },
      examples: ["daruma cancel 3", 'daruma cancel last --reason "wrong branch"'],
    },
    {
      words: "pause",
      summary: "start nothing new in a run until it is resumed; steps that run may finish",
      positional: ["run_id"],
      preset: { action: "pause" },
      examples: ["daruma pause 3", 'daruma pause last --reason "database upgrade"'],
    },
    {
      words: "takeover",
      summary: "pause a run and claim it for work by hand",
      positional: ["run_id"],
      preset: { action: "takeover" },
      examples: ['daruma takeover 3 --reason "looking at it myself"'],
    },
    {
      words: "retry",
      summary: "run a failed, canceled or held step again, also of a run that is over",
      positional: ["run_id", "stepId"],
      preset: { action: "retry_step" },
      examples: ['daruma retry 3 build --reason "fixed the compiler"', "daruma retry last setup --force"],
    },
    {
      words: "hard-reset",
      summary: "run a step once more in a fresh workspace, rebuilt from the checkpoints before it",
      positional: ["run_id", "stepId"],
      preset: { action: "hard_reset_step" },
      examples: [
        'daruma hard-reset 3 fix --reason "it goes in circles"',
        "daruma hard-reset last fix --force",
      ],
    },
    {
      words: "resume-from",
      summary: "go back to a step: it and what depends on it run again, from the checkpoints before it",
      positional: ["run_id", "stepId"],
      preset: { action: "resume_from_step" },
      examples: ['daruma resume-from 3 build --reason "the base image was wrong"'],
    },
    {
      words: "reset",
      summary: "begin anew whatever failed unhandled, was canceled or is held; what completed stays",
      positional: ["run_id"],
      preset: { action: "reset_failed" },
      examples: ['daruma reset 3 --failed-only --reason "the network is back"'],
    },
  ],
  // A cancel executes nothing, and lets an unfinished one be pruned.
  actsOn: ({ run_id, action }) => (action === "cancel" ? [] : [{ run: run_id }]),
  handler: (context, input) => controlRun(context, input),
});
