import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { DarumaError } from "../../core/errors/errors.js";
import type { OperatorCommand } from "../../core/model/commands.js";
import type { JobRow } from "../../core/model/rows.js";
import { findJob } from "../../report/lookup/choose-job.js";
import { ownerOf } from "../../report/lookup/run-owner.js";
import { type RunReference, requireRun, resolveRun } from "../../report/lookup/run-reference.js";
import type { Store } from "../../store/store.js";
import type { Context } from "../context.js";
import { redacted } from "../operator-words.js";
import { type CommandAnswer, putCommand } from "../put-command.js";
import { findOutcome } from "../recall-outcome.js";

export const CONTROL_ACTIONS = [
  "pause",
  "resume",
  "cancel",
  "takeover",
  "retry_step",
  "hard_reset_step",
  "resume_from_step",
  "reset_failed",
] as const;
export type ControlAction = (typeof CONTROL_ACTIONS)[number];

export interface ControlRequest {
  readonly run_id: RunReference;
  readonly action: ControlAction;
  readonly stepId?: string | undefined;
  readonly scope?: string | undefined;
  readonly force: boolean;
  readonly reason: string;
  readonly key?: string | undefined;
  readonly wait_ms: number;
}

export interface ControlAnswer {
  readonly run_id: number;
  /** What was done: a forced retry of a step that completed is `resume_from_step`. */
  readonly action: ControlAction;
  readonly before: CommandAnswer["before"];
  readonly status: CommandAnswer["status"];
  readonly changed: CommandAnswer["changed"][number][];
  /** The job that the step names. */
  readonly target: { readonly job_id: number; readonly step: string; readonly scope: string } | null;
  /** Jobs that still run. */
  readonly running: number;
  readonly reason: string;
  readonly key: string;
  /** Who goes on with the run by itself; null: somebody must resume it. */
  readonly owner: { readonly host: string; readonly pid: number } | null;
}

interface Plan {
  readonly command: OperatorCommand;
  readonly target: JobRow | null;
}

const END_POLL_MS = 50;

/** One thing that an operator asks of a run. A refusal is thrown with its code. */
export async function controlRun(context: Context, request: ControlRequest): Promise<ControlAnswer> {
  const runId = await resolveRun(context.store, request.run_id);
  const reason = await redacted(context.store, runId, request.reason);
  const key = request.key ?? randomUUID();
  if (request.action === "resume") {
    const resumed = await resumeRun(context, runId, reason, key);
    return answerOf(context, { action: "resume", target: null }, resumed, { reason, key });
  }
  const { command, target } = await planCommand(context, runId, { ...request, reason, key });
  const answer = await putCommand(context, runId, command);
  if (request.action !== "cancel") {
    const action = answer.done === "step.resume_from" ? "resume_from_step" : request.action;
    return answerOf(context, { action, target }, answer, { reason, key });
  }
  await waitForEnd(context, runId, request.wait_ms);
  const { status } = await requireRun(context.store, runId);
  return answerOf(context, { action: "cancel", target }, { ...answer, status }, { reason, key });
}

async function planCommand(
  { store }: Context,
  runId: number,
  request: ControlRequest & { readonly key: string },
): Promise<Plan> {
  const { action, reason, key } = request;
  switch (action) {
    case "cancel":
      return { command: { type: "run.cancel", reason, key }, target: null };
    case "pause":
    case "takeover":
      return { command: { type: "run.pause", reason, key, takeover: action === "takeover" }, target: null };
    case "reset_failed":
      return { command: { type: "run.reset", reason, key }, target: null };
    case "resume":
    case "retry_step":
    case "resume_from_step":
    case "hard_reset_step": {
      const target = await chooseTarget(store, runId, request);
      return { command: commandForStep(request, target), target };
    }
  }
}

function commandForStep(
  { action, reason, key, force }: ControlRequest & { readonly key: string },
  { id: job }: JobRow,
): OperatorCommand {
  if (action === "hard_reset_step") return { type: "step.hard_reset", job, reason, key, force };
  if (action === "resume_from_step") return { type: "step.resume_from", job, reason, key, force };
  return { type: "step.retry", job, reason, key, force };
}

async function chooseTarget(
  store: Store,
  runId: number,
  { stepId, scope, action }: ControlRequest,
): Promise<JobRow> {
  if (stepId === undefined) throw new DarumaError("INVALID_INPUT", `${action} needs stepId: which step?`);
  return findJob(store, { run_id: runId, job_id: stepId, scope });
}

/** Lift a pause, or let somebody go on with a run that nobody runs. A run that is over stays as it is. */
async function resumeRun(context: Context, runId: number, reason: string, key: string): Promise<Answered> {
  const { store, runner } = context;
  const command = { type: "run.unpause", reason, key } as const;
  const before = await findOutcome(store, runId, command);
  if (before !== null) return { runId, ...before };
  const run = await requireRun(store, runId);
  const isOwned = (await ownerOf(store, runId)) !== null;
  if (run.status === "paused" && (isOwned || runner === null)) return putCommand(context, runId, command);
  const untouched = { runId, before: run.status, status: run.status, changed: [] };
  if (run.finished_at !== null || isOwned) return untouched;
  if (runner === null)
    throw new DarumaError("NO_RUNNER", `nobody is here who could go on with run ${runId}`, {
      hint: { typed: `Type \`daruma resume ${runId}\`.`, asked: "Ask a server, which goes on with it." },
    });
  await runner.resume(runId, reason, key);
  return { ...untouched, status: (await requireRun(store, runId)).status };
}

type Answered = Pick<CommandAnswer, "runId" | "before" | "status" | "changed">;

async function answerOf(
  { store }: Context,
  { action, target }: { readonly action: ControlAction; readonly target: JobRow | null },
  { runId, before, status, changed }: Answered,
  said: { readonly reason: string; readonly key: string },
): Promise<ControlAnswer> {
  const running = (await store.readJobs(runId)).filter((job) => job.status === "running").length;
  const owner = await ownerOf(store, runId);
  return {
    run_id: runId,
    action,
    before,
    status,
    changed: [...changed],
    target: target === null ? null : { job_id: target.id, step: target.step, scope: target.scope },
    running,
    ...said,
    owner: owner === null ? null : { host: owner.host, pid: owner.pid },
  };
}

/** Processes get time to end; after that the answer is that the run is still ending. */
async function waitForEnd({ store, now }: Context, runId: number, waitMs: number): Promise<void> {
  for (const deadline = now() + waitMs; now() < deadline; await delay(END_POLL_MS))
    if ((await store.readRun(runId))?.finished_at !== null) return;
}
