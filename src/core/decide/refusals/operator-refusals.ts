import { type Advice, adviceFor } from "../../errors/errors.js";
import type { HoldDecision, OperatorCommand, RecoveredJob } from "../../model/commands.js";
import { gateState } from "../../model/gate.js";
import { isAncestor } from "../../model/graph.js";
import { isUnanswered } from "../../model/handled.js";
import { type Amounts, raisesTo, refuseRaise } from "../../model/resources.js";
import { isQueued } from "../../model/resting.js";
import type { JobStatus } from "../../model/rows.js";
import { findJob, isOver, isSettled, JOB_IDS_PER_RUN, type Job, type Run } from "../../model/run.js";
import { doneSince, mustGoBack } from "../calls.js";
import { refuseItems } from "../item-limit.js";
import { parkRung } from "../ladder/park.js";
import { turnedOff } from "../ladder/rung.js";
import {
  alreadyCanceled,
  mayRunAgainAtEnd,
  type Refusal,
  refuse,
  refuseAtEnd,
  refuseUntil,
  refuseWhileCanceling,
  refuseWhileEnding,
  scopeGone,
  typedName,
  unknownJob,
} from "./refusal.js";

type CommandOf<T extends OperatorCommand["type"]> = Extract<OperatorCommand, { type: T }>;

/** What a command comes to: a forced retry of a job that cannot simply run again goes back to it. */
export function asDone(run: Run, command: OperatorCommand): OperatorCommand {
  if (command.type !== "step.retry") return command;
  const { job: id, reason, key, hint } = command;
  const job = findJob(run, id);
  if (job === null || waitsForBreakers(run, job)) return command;
  const said = { reason, key, ...(hint === undefined ? {} : { hint }) };
  const back = { type: "step.resume_from", job: id, force: true, ...said } as const;
  if (command.also === undefined && mustGoBack(run, job))
    return command.force === true || doneSince(run, job).length === 0 ? back : command;
  if (command.force !== true) return command;
  if (RETRYABLE.has(job.status) && job.stoodInBy === null) return command;
  return back;
}

const RETRYABLE: ReadonlySet<JobStatus> = new Set<JobStatus>(["failed", "canceled", "held"]);

/** It is parked, or ready and may be kept back: which of the two breakers of a ready job are open no run knows. */
export function waitsForBreakers(run: Run, { status, parked, step, barrier, letThrough }: Job): boolean {
  if (turnedOff(parkRung, run) !== null || barrier !== null) return false;
  return parked !== null || (status === "ready" && step.definition.uses !== undefined && !letThrough);
}

/** Commands for a run that waits for its place, of which nothing has begun that could be repeated. */
const QUEUED_TAKES: ReadonlySet<OperatorCommand["type"]> = new Set([
  "run.cancel",
  "run.pause",
  "run.unpause",
]);

/** Why a command is refused; null if it applies. A key that was used before is neither applied again nor refused. */
export function refusalOf(run: Run, asked: OperatorCommand): Refusal | null {
  if (asked.key !== null && run.operatorKeys.has(asked.key)) return null;
  const command = asDone(run, asked);
  if (isQueued(run) && !QUEUED_TAKES.has(command.type))
    return refuse(
      "NOT_STARTED",
      `run ${run.id} has not started: it waits for its place in ${run.concurrency!.group}`,
    );
  switch (command.type) {
    case "run.cancel":
      return isOver(run) ? over(run) : null;
    case "run.pause":
      return isOver(run) ? over(run) : (refuseWhileCanceling(run) ?? refuseToBeHinted(run, command));
    case "run.unpause":
      return run.paused === null ? refuse("NOT_PAUSED", `run ${run.id} is ${run.status}`) : null;
    case "step.retry":
      return refuseRetry(run, command);
    case "step.resume_from":
      return refuseResumeFrom(run, command);
    case "step.hard_reset":
      return refuseHardReset(run, command);
    case "step.redrive":
      return refuseRedrive(run, command);
    case "run.reset":
      return refuseWhileEnding(run, null);
    case "jobs.recover":
      return refuseRecovery(run, command.items);
    case "holds.resolve":
      return refuseHolds(run, command.items);
    case "human.answer":
      return refuseAnswer(run, command);
  }
}

/** Why a command that applies would change nothing: what it asks for is so already. Null: it does something. */
export function alreadySo(run: Run, command: OperatorCommand): string | null {
  switch (command.type) {
    case "run.cancel":
      return alreadyCanceled(run, command.now === true);
    case "run.pause":
      if (run.paused === null || (command.takeover && !run.paused.takeover) || command.hint !== undefined)
        return null;
      return `run ${run.id} is ${run.paused.takeover ? "taken over" : "paused"} already`;
    case "run.reset":
      return jobsToReset(run).length > 0 ? null : `run ${run.id} has no failed, canceled or held steps`;
    default:
      return null;
  }
}

/** Every failure that is left to people, and what was canceled or is held. */
export function jobsToReset(run: Run): Job[] {
  return run.jobs.filter(
    (job) => job.scope.open && job.barrier === null && isToReset(run, job) && mayRunAgainAtEnd(run, job),
  );
}

function isToReset(run: Run, job: Job): boolean {
  return job.status === "canceled" || job.status === "held" || isUnanswered(run, job);
}

/** A job that is over for now takes no hint: it is for attempts that are still to come. */
function refuseToBeHinted(run: Run, { job: id }: CommandOf<"run.pause">): Refusal | null {
  if (id === undefined) return null;
  const job = findJob(run, id);
  if (job === null) return unknownJob(run, id);
  if (!isSettled(job.status)) return null;
  return refuse("HINT_REFUSED", `${job.step.definition.id} is ${job.status}: it makes no attempt by itself`, {
    typed: `Give the hint with what runs it again, such as \`daruma resume-from ${run.id} ${typedName(job)} --hint TEXT\`.`,
    asked: "Give the hint with what runs it again, such as control_run with action resume_from_step.",
  });
}

function over(run: Run): Refusal {
  return refuse("RUN_OVER", `run ${run.id} is ${run.status}`);
}

function refuseRetry(
  run: Run,
  { job: id, also, maxAttempts, hint }: CommandOf<"step.retry">,
): Refusal | null {
  if (also !== undefined) return refuseSeveral(run, [id, ...also]);
  const job = findJob(run, id);
  if (job === null) return unknownJob(run, id);
  const mayGoOn = maxAttempts === undefined && waitsForBreakers(run, job);
  const refused = refuseWhileEnding(run, job) ?? (mayGoOn ? null : refuseAgain(run, job, hint !== undefined));
  if (refused !== null || maxAttempts === undefined) return refused;
  const step = job.step.definition.id;
  if (job.status === "held") return refuse("NOT_RETRYABLE", `${step} is held`, decideHold(job));
  if (job.attempt < maxAttempts) return null;
  const had = `${job.attempt} attempt${job.attempt === 1 ? "" : "s"}`;
  return refuse("RETRIES_USED_UP", `job ${id}, ${step}, has had ${had}; max_retries is ${maxAttempts}`);
}

/** A job that was canceled with one of the others comes back with it. */
function refuseSeveral(run: Run, ids: readonly number[]): Refusal | null {
  const jobs = ids.flatMap((id) => findJob(run, id) ?? []);
  const comesBack = ({ status, step }: Job): boolean =>
    status === "canceled" && jobs.some((other) => isAncestor(other.step, step));
  for (const id of ids) {
    const job = findJob(run, id);
    if (job === null) return unknownJob(run, id);
    const refused = refuseWhileEnding(run, job) ?? refuseAgain(run, job);
    if (refused !== null && !(refused.code === "DEPENDENCY_FAILED" && comesBack(job))) return refused;
  }
  return refuseTwice(ids.map((job) => ({ job })));
}

function decideHold({ id }: Job): Advice {
  return {
    typed: `Decide the hold: \`daruma resolve ${Math.floor(id / JOB_IDS_PER_RUN)} ${id} --retry\`.`,
    asked: `Decide the hold: PUT /jobs/${id} {"status": "ready"} (update_job).`,
  };
}

/** Why this job cannot simply run again. */
function refuseAgain(run: Run, job: Job, hinted = false): Refusal | null {
  const step = job.step.definition.id;
  const { status } = job;
  if (!mayRunAgainAtEnd(run, job)) return refuseAtEnd(job);
  if (status === "completed")
    return refuse("STEP_COMPLETED", `${step} is completed`, wayBackTo(run, job, hinted));
  if (job.stoodInBy !== null)
    return refuse(
      "STEP_COMPLETED",
      `${step} failed, ${job.stoodInBy.step.definition.id} stood in for it, and what depends on it has gone on`,
      wayBackTo(run, job, hinted),
    );
  if (status === "skipped") return refuse("NOT_RETRYABLE", `${step} is skipped`, wayBackTo(run, job, hinted));
  if (status === "running")
    return refuseUntil(
      "NOT_RETRYABLE",
      `${step} is running`,
      "Wait until the attempt has ended, or cancel the run.",
    );
  if (!RETRYABLE.has(status)) return refuse("NOT_RETRYABLE", `${step} is ${status}: it has not failed`);
  if (mustGoBack(run, job) && doneSince(run, job).length > 0) return calledSinceIt(run, job, hinted);
  if (job.barrier !== null)
    return refuseUntil("NOT_RETRYABLE", `${step} is about to start over`, RUNS_BY_ITSELF);
  if (!job.scope.open) return scopeGone(run, job);
  if (status === "canceled" && gateState(job.gate) === "lost") return dependencyFailed(run, job);
  return null;
}

/** Its program has had the failure and has called others since: they belong to what came of it. */
function calledSinceIt(run: Run, job: Job, hinted: boolean): Refusal {
  const names = doneSince(run, job).map(({ step }) => step.definition.id);
  const what = `${names.slice(0, 5).join(", ")}${names.length > 5 ? ` and ${names.length - 5} more` : ""}`;
  return refuse(
    "STEP_COMPLETED",
    `its program went on after ${job.step.definition.id} had failed: ${what} completed since, and would run again`,
    wayBackTo(run, job, hinted),
  );
}

/** Only advice that would not be refused in its turn. */
function wayBackTo(run: Run, job: Job, hinted: boolean): Advice {
  if (mayGoBackTo(job)) {
    const told = hinted ? ' --hint "..."' : "";
    const files = (keeps: string): string =>
      run.definition.workspace === null
        ? ""
        : ` Its files go back to the state before it; with ${keeps} they stay.`;
    return {
      typed: `\`daruma resume-from ${run.id} ${typedName(job)}${told}\` goes back to it: the step and everything that depends on it run again.${files("--files keep")}`,
      asked: `${adviceFor("STEP_COMPLETED").asked}${hinted ? " It takes the hint." : ""}${files("files: keep")}`,
    };
  }
  return {
    typed: `Go back to the step it depends on, which did not complete: \`daruma resume-from ${run.id} STEP\`.`,
    asked:
      "Go back to the step it depends on, which did not complete: control_run with action resume_from_step.",
  };
}

function mayGoBackTo({ gate, step }: Job): boolean {
  return gateState(gate) === "met" || step.groups.length === 0;
}

const RUNS_BY_ITSELF = "Wait; it will run.";

function dependencyFailed(run: Run, { step }: Job): Refusal {
  return refuse("DEPENDENCY_FAILED", `a step that ${step.definition.id} depends on did not complete`, {
    typed: `Retry that step first; its dependents run after it. \`daruma reset ${run.id}\` retries all.`,
    asked:
      "Retry that step first; its dependents run after it. control_run with action reset_failed retries all.",
  });
}

function refuseResumeFrom(
  run: Run,
  { job: id, force, files }: CommandOf<"step.resume_from">,
): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return unknownJob(run, id);
  const refused = refuseWhileEnding(run, null) ?? refuseAtEnd(job);
  if (refused !== null) return refused;
  if (!job.scope.open) return scopeGone(run, job);
  if (!mayGoBackTo(job)) return dependencyFailed(run, job);
  if (files !== undefined && run.definition.workspace === null)
    return refuse(
      "NO_WORKSPACE",
      `run ${run.id} has no workspace: it has no files to ${files}`,
      "Leave the files out.",
    );
  return refuseBusy(run, force);
}

/** A step at work in the workspace would have it swapped under its feet, or its own work thrown away. */
function refuseBusy(run: Run, force = false): Refusal | null {
  const { running, rebuild, aside } = run.workspace;
  const busy = running ?? aside?.for ?? (rebuild === null || rebuild.built ? null : rebuild.job);
  if (force || busy === null) return null;
  return refuse("WORKSPACE_BUSY", `${busy.step.definition.id} is running in the workspace`);
}

function refuseHardReset(run: Run, { job: id, force }: CommandOf<"step.hard_reset">): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return unknownJob(run, id);
  const refused = refuseWhileEnding(run, null) ?? refuseAtEnd(job);
  if (refused !== null) return refused;
  const step = job.step.definition.id;
  if (!job.step.definition.usesWorkspace)
    return refuse("NO_WORKSPACE", `${step} does not work in a workspace`);
  return refuseResetOf(run, job, force ?? false) ?? refuseBusy(run, force);
}

function refuseResetOf(run: Run, job: Job, force: boolean): Refusal | null {
  const step = job.step.definition.id;
  const not = (why: string, hint: Advice | string): Refusal =>
    refuse("NOT_RETRYABLE", `${step} ${why}`, hint);
  if (!job.scope.open) return scopeGone(run, job);
  if (job.barrier !== null) return not("is about to start over", RUNS_BY_ITSELF);
  if (job.reset !== null) return not("is being reset already", RUNS_BY_ITSELF);
  switch (job.status) {
    case "failed":
      return job.stoodInBy === null ? null : refuseAgain(run, job);
    case "held":
    case "waiting":
      return null;
    case "recovering":
      if (job.recovery !== null) return not("waits for its recovery script", "Wait until that has ended.");
      return job.list === null ? null : not("is being repaired", "Wait until its repair has ended.");
    case "ready":
      return run.paused === null ? not("is about to run", pauseFirst(run)) : null;
    case "running":
      // Without force the workspace is busy, which is the better word for it.
      return job.stopping === null || !force ? null : not("is being ended", "Wait until it has ended.");
    case "completed":
    case "skipped":
      return refuseAgain(run, job);
    case "canceled":
      return refuseAgain(run, job) ?? not("is canceled", retryIt(run, job));
    case "blocked":
      return not("is blocked: it has not run yet", RUNS_BY_ITSELF);
  }
}

function pauseFirst({ id }: Run): Advice {
  return {
    typed: `Pause the run first: \`daruma pause ${id}\`.`,
    asked: "Pause the run first: control_run with action pause.",
  };
}

function retryIt({ id }: Run, job: Job): Advice {
  return {
    typed: `\`daruma retry ${id} ${typedName(job)}\` runs it again.`,
    asked: "control_run with action retry_step runs it again.",
  };
}

function refuseRedrive(run: Run, { job: id }: CommandOf<"step.redrive">): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return unknownJob(run, id);
  if (!job.queue.dead)
    return refuse("NOT_DEAD_LETTER", `${job.step.definition.id} is ${job.status} and not a dead letter`);
  return refuseWhileEnding(run, job) ?? refuseAgain(run, job);
}

function refuseHolds(run: Run, items: readonly HoldDecision[]): Refusal | null {
  for (const { job: id, action, items: given, amounts } of items) {
    const job = findJob(run, id);
    if (job === null) return unknownJob(run, id);
    const step = job.step.definition.id;
    if (action === "complete" && job.step.definition.forEach && given === null)
      return refuse(
        "NOT_AN_ARRAY",
        `${step} is a forEach step: its output must be an array`,
        "Give an array as the output.",
      );
    const tooMany = job.step.definition.forEach ? refuseItems(run, job, given?.length ?? 0) : null;
    if (tooMany !== null) return refuse("TOO_MANY_ITEMS", `${step}: ${tooMany.message}`);
    if (job.status !== "held") return refuse("NOT_HELD", `${step} is ${job.status}, not held`);
    const notMore = refuseAmounts(job, amounts);
    if (notMore !== null) return notMore;
  }
  return refuseTwice(items);
}

function refuseTwice(items: readonly { readonly job: number }[]): Refusal | null {
  return new Set(items.map(({ job }) => job)).size < items.length
    ? refuse("USAGE", "a job is named twice", "Name it once.")
    : null;
}

function refuseRecovery(run: Run, items: readonly RecoveredJob[]): Refusal | null {
  for (const { job: id, amounts } of items) {
    const job = findJob(run, id);
    const refused =
      job === null
        ? unknownJob(run, id)
        : (refuseWhileEnding(run, job) ?? refuseAgain(run, job) ?? refuseAmounts(job, amounts));
    if (refused !== null) return refused;
  }
  return refuseTwice(items);
}

/** Less, or as much again, would end as before. */
function refuseAmounts(job: Job, amounts: Amounts | undefined): Refusal | null {
  const why = raisesTo(job, amounts)
    .map(refuseRaise)
    .find((each) => each !== null);
  return why == null ? null : refuse("NOT_RAISED", `${job.step.definition.id}: ${why}`);
}

function refuseAnswer(run: Run, { job: id, choice }: CommandOf<"human.answer">): Refusal | null {
  const job = findJob(run, id);
  if (job === null) return unknownJob(run, id);
  if (job.question === null)
    return refuse("NOT_ASKED", `${job.step.definition.id} is ${job.status} and is not asking anything`);
  if (!job.question.choices.includes(choice))
    return refuse("INVALID_VALUE", `${choice} is not one of ${job.question.choices.join(", ")}`);
  return null;
}
