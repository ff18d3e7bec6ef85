import { z } from "zod";
import type { Definition } from "../../core/model/definition.js";
import type { EventType } from "../../core/model/events.js";
import type { Run, Scope } from "../../core/model/run.js";
import { LIVE_CONTROL } from "../../fleet/desk/protocol.js";
import { loadRun } from "../../run/engine/load-run.js";
import type { Store } from "../../store/store.js";
import { type AttemptUsage, diagnosticsOf, usagesOf } from "../../tell/attempt-details.js";
import { DECIDED_JOB } from "../../tell/decided-jobs.js";
import { HANDLED_CHILD } from "../../tell/handled-in-children.js";
import { liveControlOf, NOBODY_STEERS } from "../../tell/live-control.js";
import { pastRun } from "../../tell/lookup/past-run.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import { readRecoveries } from "../../tell/recoveries.js";
import {
  FAILED_JOB,
  HANDLED_FAILURE,
  type JobReport,
  NOTHING_FAILED,
  ROUTE_REPORT,
  reportRun,
  reportState,
  SKIPPED_BY_FAILURE,
  UNDONE_JOB,
} from "../../tell/run-report.js";
import { summariseRun } from "../../tell/run-summary.js";
import type { Context } from "../context.js";
import { Waits, type WaitsFor, waitsFor, waitsOf } from "../jobs/waits-for.js";
import { type Answer, operation } from "../operation.js";
import { definitionOf } from "../operator-words.js";
import {
  at,
  diagnostics,
  endPhase,
  error,
  files,
  job,
  json,
  recordOf,
  runReference,
  runStatus,
  tokenUsage,
  waitingJob,
} from "../schemas.js";
import {
  concurrency,
  heldBelow,
  imported,
  interrupted,
  labels,
  needsProgram,
  pastAt,
  recovery,
  runLoops,
  runPriority,
  waitsForPlace,
} from "./run-shapes.js";

/** Which jobs of a run the answer describes. */
const JOB_CHOICES = ["all", "failed", "none"] as const;

type JobChoice = (typeof JOB_CHOICES)[number];

const routeReport = recordOf(ROUTE_REPORT);
const failureShape = recordOf(FAILED_JOB);

const runDetails = z.object({
  run_id: z.number(),
  workflow: z.string(),
  workflow_id: z.number(),
  version: z.number().describe("Of its workflow."),
  status: runStatus,
  phase: endPhase,
  interrupted,
  imported,
  strict: z.boolean().describe("A handled failure makes the exit code 1, and is a failure in reports."),
  needs_program: needsProgram,
  taken_over: z
    .object({ run_id: z.number(), jobs: z.number() })
    .nullable()
    .describe("The run from which it took jobs over; null: none."),
  labels,
  concurrency,
  priority: runPriority,
  waits_for: waitsForPlace,
  at: pastAt,
  jobs: z.array(job.extend({ output: json, waits_for: waitsFor })),
  routes: z.array(routeReport),
  recoveries: z.array(recovery),
  handled_failures: z.array(recordOf(HANDLED_FAILURE)),
  skipped_by_failure: z
    .array(recordOf(SKIPPED_BY_FAILURE))
    .describe("Jobs that did not run because of a failure that is handled."),
  decided: z
    .array(recordOf(DECIDED_JOB))
    .describe(
      "Jobs that were held and then skipped or completed: `by` is who decided, `expired` that nobody did in time.",
    ),
  handled_in_children: z
    .array(recordOf(HANDLED_CHILD))
    .describe(
      "Of a completed run: its child runs in which failures were handled or somebody decided, or that are open.",
    ),
  held_below: heldBelow,
  undone: z
    .object({ done: z.array(recordOf(UNDONE_JOB)), left: z.array(recordOf(UNDONE_JOB)) })
    .nullable()
    .describe(
      "What a run that failed or was canceled has undone, and what not; null: there was nothing to undo.",
    ),
  error: error.nullable(),
  created_at: z.string(),
  finished_at: z.string().nullable(),
  duration_ms: z.number().nullable(),
  state: json,
  live_control: recordOf(LIVE_CONTROL),
  paused_by: z
    .string()
    .nullable()
    .describe("Who paused it or took it over; null: it is not paused, or nobody is named."),
  loops: runLoops,
  left_alone: z.object({ host: z.string(), message: z.string() }).nullable(),
  diagnostics,
  usage: z.array(tokenUsage.extend({ job_id: z.number(), attempt: z.number() })),
  summary: z.object({
    counts: z.array(z.string()),
    failures: z.array(
      failureShape.extend({
        family: z.string().nullable(),
        how: z.string().nullable(),
        said: z.string().nullable(),
        signature: z.string().nullable().describe("The same for steps that failed alike."),
        attempt: z.number(),
        unanswered: z.boolean(),
        stdout_tail: z.string().nullable(),
        stderr_tail: z.string().nullable(),
        stdout_file: z.string().nullable(),
        stderr_file: z.string().nullable(),
      }),
    ),
    holds: z.array(waitingJob),
    reuse_file: z
      .string()
      .nullable()
      .describe("The file of which a new run could take over from this one; null: none could."),
    ways_back: z
      .array(z.object({ name: z.string(), files: files.unwrap().nullable() }))
      .describe(
        "The steps whose work the failed ones have examined: resume_from_step, with a hint, sends it back.",
      ),
    endings: z.array(z.object({ step: z.string(), text: z.string() })),
  }),
});

export const getRun = operation({
  name: "get_run",
  summary: "show a run: its jobs, routes, errors and state",
  description:
    "Returns one run: its status, a `summary` with unhandled failures, holds and questions, its jobs with status, attempts, error and output (`jobs` selects which), and the failure routes taken.",
  details:
    "`recoveries`: the rungs that brought a step back, numbered; retries of one visit are one, and so are branches of a fan-out that recovered alike. `diagnostics`: what the ladder did about each failed attempt of the jobs shown. `state`: the state of each scope. `live_control`: whether somebody has paused the run or taken it over, and the last command about a step. `left_alone`: the last server that could not get its workspace, while no process is running it. `usage`: the tokens of its model calls.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: runReference,
    jobs: z
      .enum(JOB_CHOICES)
      .default("all")
      .describe("All, only those that failed and have not completed since, or none."),
    at,
  }),
  output: runDetails,
  rest: { method: "GET", path: "/runs/{run_id}" },
  cli: [
    {
      words: "show",
      positional: ["run_id"],
      examples: [
        "daruma show 3",
        "daruma show last --jobs failed",
        "daruma show last --json",
        "daruma show 3 --at 17",
      ],
    },
  ],
  // In a large run the other jobs are many and say little. list_jobs returns them page by page.
  agentDefaults: () => ({ jobs: "failed" }),
  handler: async (context, { run_id, jobs, at: seq }) => {
    const { store } = context;
    const runId = await resolveRun(store, run_id);
    if (seq === undefined)
      return { ...(await describeRun(context, runId, jobs, new Waits(context))), at: null };
    const past = await pastRun(store, runId, seq);
    return { ...(await describeRun({ ...context, store: past.store }, runId, jobs, null)), at: past.at };
  },
});

/** Everything of one run. In the past nothing waits for what there is now. */
async function describeRun(
  { store, outputDir, now }: Context,
  runId: number,
  choice: JobChoice,
  waits: Waits | null,
) {
  const report = await reportRun(store, runId);
  const run = await requireRun(store, runId);
  const jobs: (JobReport & { readonly waits_for: WaitsFor | null })[] = [];
  for (const each of report.jobs)
    if (isChosen(each, choice))
      jobs.push({ ...each, waits_for: waits === null ? null : await waits.of(run, each) });
  const definition = await definitionOf(store, runId);
  const summary = await summariseRun(store, outputDir, report);
  const { counts, failures, holds, reuse_file, ways_back, endings } = summary;
  return {
    ...report,
    version: (await store.readWorkflow(run.workflow_id))!.version,
    jobs,
    waits_for: waits === null ? null : ((await waitsOf(store, [run], now())).get(runId) ?? null),
    recoveries: await readRecoveries(store, runId),
    held_below: waits === null ? [] : report.held_below,
    ...(await standingOf(store, runId)),
    diagnostics: diagnosticsOf(jobs, await store.readEvents(runId, { types: ["ladder.climbed"] })),
    usage: await usageOfModels(store, runId, definition),
    summary: { counts, failures, holds, reuse_file, ways_back, endings },
  };
}

/** What changes a run in ways that its rows do not tell. */
const STEERING: readonly EventType[] = [
  "ladder.climbed",
  "run.paused",
  "jobs.retried",
  "operator.goto",
  "reset.reserved",
  "workspace.left",
  "goto.taken",
  "edge.taken",
];

/** The log is folded only where something of that kind is in it. */
async function standingOf(store: Store, runId: number) {
  const isSteered = (await store.readEvents(runId, { types: STEERING, limit: 1 })).length > 0;
  if (!isSteered)
    return {
      state: NOTHING_FAILED,
      live_control: NOBODY_STEERS,
      paused_by: null,
      loops: null,
      left_alone: null,
    };
  const { run } = await loadRun(store, runId);
  return {
    state: reportState(run),
    live_control: liveControlOf(run),
    paused_by: run.paused === null ? null : await lastPauseBy(store, runId),
    loops: loopsOf(run),
    left_alone: run.workspace.left,
  };
}

async function lastPauseBy(store: Store, runId: number): Promise<string | null> {
  const last = (await store.readEvents(runId, { types: ["run.paused"] })).at(-1);
  return last === undefined ? null : ((last.event as { readonly by?: string }).by ?? null);
}

/** The loops of the scope with the most, which reaches the limit first. */
function loopsOf({ scopes, maxLoops }: Run): Answer<typeof runLoops> {
  let most: Scope | null = null;
  for (const scope of scopes.values()) if (scope.loops > (most?.loops ?? 0)) most = scope;
  return most === null ? null : { taken: most.loops, max: maxLoops, scope: most.id };
}

/** Most runs ask no model, and then nothing is read. */
async function usageOfModels(
  store: Store,
  runId: number,
  definition: Definition | null,
): Promise<AttemptUsage[]> {
  if (definition?.steps.some(({ action }) => action.type === "llm_call") !== true) return [];
  return usagesOf(await store.readEvents(runId, { types: ["attempt.succeeded"] }));
}

/** What was canceled because of a failure is no failure of its own. */
function isChosen({ status, error }: JobReport, choice: JobChoice): boolean {
  if (choice !== "failed") return choice === "all";
  return error !== null && status !== "completed" && status !== "canceled" && status !== "skipped";
}
