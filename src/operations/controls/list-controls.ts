import { z } from "zod";
import { alreadySo, endsAtOnce, refusalOf } from "../../core/decide/operator.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { JobRow, RunRow } from "../../core/model/rows.js";
import type { Run } from "../../core/model/run.js";
import { loadRun } from "../../run/engine/load-run.js";
import { findJob } from "../../tell/lookup/choose-job.js";
import { requireOwnRuns } from "../../tell/lookup/own-runs.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import type { Context } from "../context.js";
import { type Answer, operation } from "../operation.js";
import { controlRun } from "../runs/control-run.js";
import { forkRun, planFork } from "../runs/fork-run.js";
import { requireRunner } from "../runs/started-run.js";
import { runReference, runStatus, scope, step } from "../schemas.js";
import { CONTROL_ACTIONS, type ControlAction, commandOf, isOnStep, planResume } from "./plan-control.js";

/** What decides the job of a step that waits for a person. */
const DECISIONS = ["redrive", "complete", "skip", "fail"] as const;
type DecisionAction = (typeof DECISIONS)[number];
const ACTIONS = [...CONTROL_ACTIONS, "cancel_now", "fork", ...DECISIONS] as const;

const control = z.object({
  action: z
    .enum(ACTIONS)
    .describe(
      "One of control_run, cancel_now for its cancel with `now`, fork for fork_run, or one of decide_problems that decides a hold.",
    ),
  allowed: z.boolean(),
  needs_force: z.boolean().describe("Allowed with `force` only: a running step is ended first."),
  code: z.string().nullable().describe("Of the refusal; null: it is allowed, or would change nothing."),
  reason: z.string().nullable().describe("Why it is not allowed, or would change nothing."),
});
type Control = Answer<typeof control>;

const input = z.strictObject({
  run_id: runReference,
  step_id: step.optional().describe("The step: its id, step@scope, or a job's id."),
  scope,
});

export const listControls = operation({
  name: "list_controls",
  summary: "list what can be done with a run or a step now, and why the rest cannot",
  description:
    "Lists every action of control_run and fork_run, and the decisions on a held step, with whether it is allowed now; where it is not, why. For the actions on a step give `step_id`.",
  details:
    "The answers come from the rules that decide the commands themselves. A command with `dry_run` says what an allowed action would change.",
  role: "viewer",
  effect: "reads",
  input,
  output: z.object({
    run_id: z.number(),
    status: runStatus,
    target: z.object({ job_id: z.number(), step: z.string(), scope: z.string() }).nullable(),
    items: z.array(control),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/controls" },
  cli: [],
  handler: async (context, { run_id, step_id, scope: branch }) => {
    const { store } = context;
    const runId = await resolveRun(store, run_id);
    const row = await requireRun(store, runId);
    const { run } = await loadRun(store, runId);
    const target =
      step_id === undefined ? null : await findJob(store, { run_id: runId, job_id: step_id, scope: branch });
    const asked = { row, run, target };
    const items: Control[] = [];
    for (const action of ACTIONS) items.push(await answerFor(context, action, asked));
    return {
      run_id: runId,
      status: row.status,
      target: target === null ? null : { job_id: target.id, step: target.step, scope: target.scope },
      items,
    };
  },
});

interface Asked {
  readonly row: RunRow;
  readonly run: Run;
  readonly target: JobRow | null;
}

type Refused = Pick<Control, "code" | "reason">;

async function answerFor(context: Context, action: Control["action"], asked: Asked): Promise<Control> {
  const refused = await refusing(() => refuse(context, action, asked, false));
  if (refused === null) return { action, allowed: true, needs_force: false, code: null, reason: null };
  const needs_force =
    refused.code === "WORKSPACE_BUSY" &&
    (await refusing(() => refuse(context, action, asked, true))) === null;
  return { action, allowed: needs_force, needs_force, ...refused };
}

function refuse(
  context: Context,
  action: Control["action"],
  asked: Asked,
  force: boolean,
): Promise<Refused | null> {
  if (action === "fork") return refuseFork(context, asked);
  if (isDecision(action)) return refuseDecision(context, action, asked);
  if (action === "cancel_now") return refuseCancelNow(context, asked);
  return refuseControl(context, action, asked, force);
}

function isDecision(action: Control["action"]): action is DecisionAction {
  return DECISIONS.some((each) => each === action);
}

/** What is thrown is a refusal as well. */
async function refusing(ask: () => Promise<Refused | null>): Promise<Refused | null> {
  try {
    return await ask();
  } catch (error) {
    if (!(error instanceof DarumaError)) throw error;
    return { code: error.code, reason: error.message };
  }
}

async function refuseControl(
  context: Context,
  action: ControlAction,
  { row, run, target }: Asked,
  force: boolean,
): Promise<Refused | null> {
  const request = { run_id: run.id, action, force, now: false, reason: "", wait_ms: 0, dry_run: true };
  await requireOwnRuns(context.store, controlRun.actsOn!(request));
  if (action === "resume") {
    const plan = await planResume(context, row);
    return plan.how === "nothing" ? { code: null, reason: plan.why } : null;
  }
  if (isOnStep(action) && target === null) return NO_STEP;
  const command = commandOf(action, { reason: "", key: null, force }, target?.id ?? null);
  const refusal = refusalOf(run, command);
  if (refusal !== null) return { code: refusal.code, reason: refusal.message };
  const already = alreadySo(run, command);
  return already === null ? null : { code: null, reason: already };
}

/** Refuses "cancel now" if nothing would run before the end anyway, because it would be an ordinary cancel. */
async function refuseCancelNow(context: Context, asked: Asked): Promise<Refused | null> {
  const { run } = asked;
  const plain = await refuseControl(context, "cancel", asked, false);
  if (plain !== null && plain.code !== null) return plain;
  const already = alreadySo(run, { type: "run.cancel", reason: "", key: null, now: true });
  if (already !== null) return { code: null, reason: already };
  return endsAtOnce(run) ? { code: null, reason: `run ${run.id} has no undo or finally steps` } : null;
}

const NO_STEP: Refused = { code: "INVALID_INPUT", reason: "choose a step first" };

async function refuseDecision(
  { store }: Context,
  action: DecisionAction,
  { run, target }: Asked,
): Promise<Refused | null> {
  if (target === null) return NO_STEP;
  await requireOwnRuns(store, [{ run: run.id }]);
  const said = { reason: "", key: null };
  // Whether an output fits is for the one that gives it: an array fits the fan-out too.
  const decision = { job: target.id, output: null, items: [] };
  const refusal = refusalOf(
    run,
    action === "redrive"
      ? { type: "step.redrive", job: target.id, ...said }
      : { type: "holds.resolve", items: [{ ...decision, action }], ...said },
  );
  return refusal === null ? null : { code: refusal.code, reason: refusal.message };
}

async function refuseFork(context: Context, { run, target }: Asked): Promise<Refused | null> {
  if (target === null) return NO_STEP;
  const asked = {
    run_id: run.id,
    step: target.step,
    file_name: "workflow.yaml",
    inputs: {},
    keep_stood_in: false,
    reason: "",
  };
  await requireOwnRuns(context.store, forkRun.actsOn!({ ...asked, dry_run: true }));
  await planFork(context, asked);
  requireRunner(context);
  return null;
}
