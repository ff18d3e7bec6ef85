import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { GOES_BACK, type GoesBack } from "../../core/decide/going-back.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { JobRow } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";
import { findJob, findNamedJobs } from "../../tell/lookup/choose-job.js";
import { ownerOf } from "../../tell/lookup/run-owner.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import { findOutcome } from "../command-outcome.js";
import type { Context } from "../context.js";
import {
  CONTROL_ACTIONS,
  type ControlAction,
  commandOf,
  isOnStep,
  planResume,
  refuseFiles,
  takesHint,
} from "../controls/plan-control.js";
import { type Answer, operation } from "../operation.js";
import { hintSaid, redactorOver, refuseHint } from "../operator-words.js";
import { giveCommand, nameOfPrincipal } from "../put-command.js";
import {
  dryRun,
  endPhase,
  files,
  flag,
  hint,
  jobChange,
  key,
  owner,
  reason,
  recordOf,
  runReference,
  runStatus,
  scope,
  step,
} from "../schemas.js";

const MAX_WAIT_MS = 30_000;

const input = z.strictObject({
  run_id: runReference,
  action: z.enum(CONTROL_ACTIONS).describe("What to do."),
  step_id: step
    .optional()
    .describe("For the actions on a step, and takeover with a hint: its id, step@scope, or a job's id."),
  step_ids: z
    .array(step)
    .min(1)
    .optional()
    .describe("retry_step: several, all or none; `*` and `?` in them name failed, canceled and held steps."),
  scope,
  force: flag
    .default(false)
    .describe(
      "retry_step: also go back to a completed step. hard_reset_step, resume_from_step: end a step running in the workspace first.",
    ),
  files: files.describe("resume_from_step: workspace files stay, or are restored (default)."),
  now: flag.default(false).describe("cancel: skip undo and finally steps, end those that run."),
  reason,
  hint,
  key,
  dry_run: dryRun,
  wait_ms: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_WAIT_MS)
    .default(0)
    .describe("How long to wait for a canceled run's processes to end."),
});
type ControlRequest = z.output<typeof input>;

/** The action is what was done: a forced retry of a step that completed is `resume_from_step`. */
const controlled = z.object({
  run_id: z.number(),
  action: z.enum(CONTROL_ACTIONS),
  dry_run: z.boolean(),
  before: runStatus,
  status: runStatus,
  phase: endPhase,
  changed: z.array(jobChange),
  goes_back: recordOf(GOES_BACK)
    .nullable()
    .describe("Of resume_from_step: what begins again, and what becomes of the workspace."),
  target: z.object({ job_id: z.number(), step: z.string(), scope: z.string() }).nullable(),
  running: z.number(),
  reason: z.string(),
  key: z.string(),
  owner,
});
type ControlAnswer = Answer<typeof controlled>;

export const controlRun = operation({
  name: "control_run",
  summary: "control a run: pause, resume, cancel, take over, retry a step",
  description:
    "Controls a run. `pause`: nothing new starts; `takeover`: the same, reserved for manual work; `resume`: lifts a pause, or continues an interrupted run; `cancel`: ends it, after its undo and finally steps; `retry_step`: runs a failed, canceled or held step again with fresh budgets; `resume_from_step`: goes back to any step; `hard_reset_step`: runs a step again in a workspace rebuilt from checkpoints; `reset_failed`: runs every failed step again.",
  details:
    "It works whichever process runs the run. `retry_step` and `resume_from_step` also work on a finished run; `retry_step` with `force` accepts a completed step too, like resume_from_step. `resume_from_step` runs the step and what depends on it again, in a workspace from the checkpoints before it (`files: keep`: in its files). `hard_reset_step` costs no budget. `reset_failed` leaves handled failures alone. While a step is running in the workspace, `hard_reset_step` and `resume_from_step` are refused with WORKSPACE_BUSY unless `force` ends it. The answer says what changed; with `dry_run`, what would.",
  role: "operator",
  effect: "changes",
  input,
  output: controlled,
  rest: { method: "POST", path: "/runs/{run_id}/control", alsoCalled: { stepId: "step_id" } },
  cli: [
    {
      words: "resume",
      summary: "continue a run that was interrupted or paused, or print the result of a finished one",
      positional: ["run_id"],
      preset: { action: "resume" },
      examples: ["daruma resume 3", "daruma resume last --json"],
    },
    {
      words: "cancel",
      summary: "cancel a run, whichever process runs it",
      positional: ["run_id"],
      preset: { action: "cancel" },
      examples: ["daruma cancel 3", 'daruma cancel last --reason "wrong branch"', "daruma cancel 3 --now"],
    },
    {
      words: "pause",
      summary: "start nothing new until the run is resumed; running steps may finish",
      positional: ["run_id"],
      preset: { action: "pause" },
      examples: ["daruma pause 3", 'daruma pause last --reason "database upgrade"'],
    },
    {
      words: "takeover",
      summary: "pause a run and reserve it for manual work",
      positional: ["run_id", "[step_id]"],
      preset: { action: "takeover" },
      examples: [
        'daruma takeover 3 --reason "looking at it myself"',
        'daruma takeover 3 fix --hint "the parser is right, the test is wrong"',
      ],
    },
    {
      words: "retry",
      summary: "run failed, canceled or held steps again, even if the run is over",
      positional: ["[run_id]", "[step_ids...]"],
      preset: { action: "retry_step" },
      examples: [
        'daruma retry 3 build --reason "fixed the compiler"',
        'daruma retry 3 fix --hint "leave the parser alone; the test data is wrong"',
        "daruma retry last 'train_*' 'resize@list[16]'",
        "daruma retry last setup --force",
        'daruma retry --class transient_runtime --since 2h --reason "the network is back"',
      ],
    },
    {
      words: "hard-reset",
      summary: "run a step again in a fresh workspace, rebuilt from the checkpoints before it",
      positional: ["run_id", "step_id"],
      preset: { action: "hard_reset_step" },
      examples: [
        'daruma hard-reset 3 fix --reason "it goes in circles"',
        "daruma hard-reset last fix --force",
      ],
    },
    {
      words: "resume-from",
      summary: "go back to a step: run it and everything that depends on it again",
      positional: ["run_id", "step_id"],
      preset: { action: "resume_from_step" },
      examples: [
        'daruma resume-from 3 build --reason "the base image was wrong"',
        'daruma resume-from 3 fix --files keep --hint "leave the parser alone; the test data is wrong"',
      ],
    },
    {
      words: "reset",
      summary: "run every failed, canceled or held step again; completed steps stay",
      positional: ["[run_id]"],
      preset: { action: "reset_failed" },
      examples: [
        'daruma reset 3 --reason "the network is back"',
        "daruma reset --workflow nightly --dry-run",
      ],
    },
  ],
  // A cancel executes nothing, and lets an unfinished one be pruned.
  actsOn: ({ run_id, action }) => (action === "cancel" ? [] : [{ run: run_id }]),
  handler: control,
});

const END_POLL_MS = 50;

/** One thing that an operator asks of a run. A refusal is thrown with its code. */
async function control(context: Context, request: ControlRequest): Promise<ControlAnswer> {
  const runId = await resolveRun(context.store, request.run_id);
  const { action: asked, dry_run, force, now, files: policy } = request;
  const children = now && !dry_run ? await unfinishedChildren(context.store, runId) : [];
  // The operator's words go to all of these runs, or are refused before any gets them.
  const redactor = await redactorOver(context.store, [runId, ...children]);
  refuseHint(request.hint, asked, takesHint(asked));
  refuseFiles(policy, asked, asked === "resume_from_step");
  const reason = redactor.redact(request.reason);
  const told = hintSaid(request.hint, redactor);
  const said = { reason, key: request.key ?? randomUUID(), dry_run };
  if (request.action === "resume") {
    const resumed = await resumeRun(context, runId, said);
    return answerOf(context, { action: "resume", target: null }, resumed, said);
  }
  const { target, also } = await chooseTargets(context.store, runId, request);
  const command = commandOf(asked, { ...said, ...told, force, also, now, files: policy }, target?.id ?? null);
  const { done, goes_back, run } = await giveCommand(context, runId, command, dry_run);
  for (const run_id of children)
    await control(context, { ...request, run_id, wait_ms: 0, key: `${said.key}/${run_id}` }).catch(
      unlessOver,
    );
  if (request.action !== "cancel" || dry_run) {
    const action = done === "step.resume_from" ? "resume_from_step" : request.action;
    return { ...(await answerOf(context, { action, target }, run, said)), goes_back };
  }
  await waitForEnd(context, runId, request.wait_ms);
  const { status } = await requireRun(context.store, runId);
  return answerOf(context, { action: "cancel", target }, { ...run, status }, said);
}

/** Unfinished child runs. A child run undoes its steps when its parent's step is stopped, unless it is told not to. */
async function unfinishedChildren(store: Store, runId: number): Promise<number[]> {
  const found: number[] = [];
  for (const { id } of await store.listJobs({ runId, status: ["running"] })) {
    const [child] = await store.listRuns({ parentJob: id, limit: 1 });
    if (child !== undefined && child.finished_at === null) found.push(child.id);
  }
  return found;
}

function unlessOver(error: unknown): void {
  if (!(error instanceof DarumaError && error.code === "RUN_OVER")) throw error;
}

interface Targets {
  /** The first of several; null: the action is about the run. */
  readonly target: JobRow | null;
  /** Missing where one step was named. */
  readonly also?: readonly number[];
}

async function chooseTargets(store: Store, runId: number, request: ControlRequest): Promise<Targets> {
  const { step_id, step_ids, scope, action, force } = request;
  if (step_ids !== undefined) {
    if (action !== "retry_step" || step_id !== undefined || scope !== undefined || force)
      throw new DarumaError("INVALID_INPUT", "step_ids is for retry_step, without step_id, scope and force");
    const [first, ...others] = await findNamedJobs(store, runId, step_ids);
    return { target: first!, also: others.map(({ id }) => id) };
  }
  const forHint = action === "takeover" && request.hint !== undefined && step_id !== undefined;
  if (!isOnStep(action) && !forHint) return { target: null };
  if (step_id === undefined) throw new DarumaError("INVALID_INPUT", `${action} needs step_id: which step?`);
  return { target: await findJob(store, { run_id: runId, job_id: step_id, scope }) };
}

/** Lift a pause, or let somebody go on with a run that nobody runs. A run that is over stays as it is. */
async function resumeRun(context: Context, runId: number, { reason, key, dry_run }: Said): Promise<Answered> {
  const { store, runner, principal } = context;
  const command = { type: "run.unpause", reason, key } as const;
  const before = await findOutcome(store, runId, command);
  if (before !== null) return { run_id: runId, ...before };
  const run = await requireRun(store, runId);
  const { how } = await planResume(context, run);
  const lifts = how === "unpause" || (how === "take_up" && run.status === "paused");
  if (how === "unpause" || (lifts && dry_run))
    return (await giveCommand(context, runId, command, dry_run)).run;
  const untouched = { run_id: runId, before: run.status, status: run.status, changed: [] };
  if (how === "nothing" || dry_run) return untouched;
  await runner!.resume(runId, { reason, key, by: nameOfPrincipal(principal) });
  return { ...untouched, status: (await requireRun(store, runId)).status };
}

interface Said {
  readonly reason: string;
  readonly key: string;
  readonly dry_run: boolean;
}

type Answered = Pick<ControlAnswer, "run_id" | "before" | "status" | "changed">;

async function answerOf(
  { store }: Context,
  { action, target }: { readonly action: ControlAction; readonly target: JobRow | null },
  { run_id, before, status, changed }: Answered,
  said: Said,
): Promise<ControlAnswer> {
  const phase = (await store.readRun(run_id))?.tally?.ending?.phase ?? null;
  const running = (await store.readJobs(run_id)).filter((job) => job.status === "running").length;
  const owner = await ownerOf(store, run_id);
  return {
    run_id,
    action,
    before,
    status,
    phase,
    changed,
    goes_back: null as GoesBack | null,
    target: target === null ? null : { job_id: target.id, step: target.step, scope: target.scope },
    running,
    ...said,
    owner,
  };
}

/** Processes get time to end; after that the answer is that the run is still ending. */
async function waitForEnd({ store, now }: Context, runId: number, waitMs: number): Promise<void> {
  for (const deadline = now() + waitMs; now() < deadline; await delay(END_POLL_MS))
    if ((await store.readRun(runId))?.finished_at !== null) return;
}
