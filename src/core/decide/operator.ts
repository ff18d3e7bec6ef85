import type { HoldDecision, OperatorCommand } from "../model/commands.js";
import { hasTurnAtEnd } from "../model/ending/run-ending.js";
import type { JobRaise, RetriedBy } from "../model/events.js";
import { gateState, reducersWaiting, waitingFor, withDependentsStillWaiting } from "../model/gate.js";
import { wayOf } from "../model/handled.js";
import { type Amounts, raisesTo } from "../model/resources.js";
import { failuresLedTo, isOver, type Job, jobById, type Run } from "../model/run.js";
import { abandonJob, abandonScope } from "./abandon.js";
import { drain } from "./agenda.js";
import { readyAfterIf } from "./ask.js";
import { withTheirProgram } from "./calls.js";
import type { Decision } from "./decision.js";
import { decideJoin, openScopesOf } from "./fan-out.js";
import { followUp } from "./follow-up.js";
import { descendants, openBarrierOver } from "./goto.js";
import { failJob } from "./ladder/fail.js";
import { startReservedRecoveries } from "./recovery.js";
import { alreadySo, asDone, jobsToReset, refusalOf, waitsForBreakers } from "./refusals/operator-refusals.js";
import { giveUpLost, startAll } from "./start.js";

export { alreadySo, refusalOf } from "./refusals/operator-refusals.js";
export { endsAtOnce, type Refusal, refusedWhereNobodyRuns } from "./refusals/refusal.js";

/** Take a command that `refusalOf` lets through. */
export function operate(decision: Decision, asked: OperatorCommand): void {
  const { run } = decision;
  if ((asked.key !== null && run.operatorKeys.has(asked.key)) || refusalOf(run, asked) !== null) return;
  const command = asDone(run, asked);
  if (alreadySo(run, command) !== null) return;
  decision.by = asked.by ?? null;
  decision.hint = "hint" in command ? command.hint : undefined;
  perform(decision, command);
  decision.by = null;
  decision.hint = undefined;
}

function perform(decision: Decision, command: OperatorCommand): void {
  const { run } = decision;
  switch (command.type) {
    case "run.cancel":
      return cancelRun(decision, {
        reason: command.reason,
        key: command.key,
        ...(command.now === true ? { now: true } : {}),
      });
    case "run.pause": {
      const { reason, key, takeover = false, job } = command;
      decision.emit({ type: "run.paused", reason, key, takeover, ...(job === undefined ? {} : { job }) });
      return;
    }
    case "run.unpause":
      decision.emit({ type: "run.unpaused", reason: command.reason, key: command.key });
      return startReservedRecoveries(decision);
    case "step.retry":
      if (command.also !== undefined) return retrySeveral(decision, command);
      if (waitsForBreakers(run, jobById(run, command.job))) return letThrough(decision, command);
      return retryJobs(decision, {
        jobs: [jobById(run, command.job)],
        reblocked: [],
        action: "retry_step",
        maxAttempts: command.maxAttempts,
        reason: command.reason,
        key: command.key,
      });
    case "step.resume_from":
      return resumeFrom(decision, jobById(run, command.job), command);
    case "step.hard_reset":
      return hardReset(decision, jobById(run, command.job), command.reason, command.key);
    case "step.redrive":
      return redrive(decision, jobById(run, command.job), command.reason, command.key);
    case "run.reset":
      return resetFailed(decision, command.reason, command.key);
    case "jobs.recover":
      return recoverJobs(decision, command);
    case "holds.resolve":
      for (const item of command.items) {
        decision.hint = item.hint;
        resolveHold(decision, item, item.reason ?? command.reason, { key: command.key });
        drain(decision);
      }
      return;
    case "human.answer":
      return answer(decision, command);
  }
}

/** `code`: why, where nobody wished it. */
interface Cancel {
  readonly reason: string;
  readonly key: string | null;
  readonly code?: string;
  /** Nothing is undone, and no `finally` step runs. */
  readonly now?: true;
}

export function cancelRun(decision: Decision, cancel: Cancel): void {
  const { run } = decision;
  const isUnderWay = run.cancelRequested !== null;
  if (isUnderWay && cancel.now !== true) return;
  decision.emit({ type: "run.cancel_requested", ...cancel });
  const turn = run.ending?.turn ?? null;
  if (turn !== null) return abandonJob(decision, turn.job, "canceled", cancel.reason);
  if (isUnderWay || run.ending !== null) return;
  if (run.startedAt === null) decision.emit({ type: "run.started" });
  abandonScope(decision, run.root, "canceled", "RUN_CANCELED", cancel.reason);
}

/** Its next attempt starts whatever its breakers say; it goes on in its visit. */
function letThrough(
  decision: Decision,
  { job: id, reason, key }: Extract<OperatorCommand, { type: "step.retry" }>,
): void {
  const isParked = jobById(decision.run, id).parked !== null;
  decision.emit({ type: "job.let_through", job: id, reason, key });
  if (isParked) decision.emit({ type: "jobs.ready", jobs: [id], reason: "operator" });
}

function reopen(decision: Decision, reason: string, key: string | null): void {
  if (isOver(decision.run)) decision.emit({ type: "run.reopened", reason, key });
}

interface Retried {
  readonly jobs: readonly Job[];
  /** Wait again, without being asked to run. */
  readonly reblocked: readonly Job[];
  readonly action: RetriedBy;
  readonly raised?: readonly JobRaise[];
  readonly maxAttempts?: number | undefined;
  readonly reason: string;
  readonly key: string | null;
  /** They go on in a fresh workspace. */
  readonly afresh?: boolean;
}

/** New visits for these jobs; what was canceled or skipped because of them waits for them again. */
function retryJobs(decision: Decision, retried: Retried): void {
  const { reblocked, action, raised = [], maxAttempts, reason, key, afresh } = retried;
  reopen(decision, reason, key);
  // A run that was reopened comes to its `finally` steps by itself.
  const asked = retried.jobs.filter((job) => job.step.atEnd === null || hasTurnAtEnd(decision.run, job));
  if (asked.length === 0) return;
  const { jobs, waiting: called } = withTheirProgram(decision.run, asked);
  const rerouted = failuresEndedAt(jobs);
  const fallbacks = fallbacksPutBack(jobs, reblocked);
  const behind = givenUpBehind(decision.run, [...jobs, ...rerouted, ...fallbacks]);
  const waiting = [...new Set([...reblocked, ...fallbacks, ...behind, ...called])];
  // A transition had brought these here: nothing that they depend on will start them.
  const routed = jobs.filter(
    (job) =>
      job.entered &&
      job.call === null &&
      (job.step.definition.start === "routed" || gateState(job.gate) !== "met"),
  );
  decision.emit({
    type: "jobs.retried",
    jobs: jobs.map(({ id }) => id),
    reblocked: waiting.map(({ id }) => id),
    action,
    ...(rerouted.length === 0 ? {} : { rerouted: rerouted.map(({ id }) => id) }),
    ...(raised.length === 0 ? {} : { raised }),
    ...(maxAttempts === undefined ? {} : { max_attempts: maxAttempts }),
    reason,
    key,
  });
  if (afresh) for (const job of jobs) reserveReset(decision, job, reason, null);
  const fresh = [...jobs, ...waiting];
  for (const job of withDependentsStillWaiting(fresh)) {
    decideJoin(decision, job);
    drain(decision);
  }
  for (const job of routed) startRouted(decision, job);
  startAll(decision, fresh, "operator");
  drain(decision);
  giveUpLost(decision, fresh);
}

/** Failures whose way ended here without success, and whose dependents have been given up: the way goes on. */
function failuresEndedAt(jobs: readonly Job[]): Job[] {
  const begunAgain = new Set(jobs);
  const sources = new Set(jobs.flatMap((job) => [...failuresLedTo(job)]));
  return [...sources].filter((source) => {
    if (source.status !== "failed" || source.settledAs !== "lost" || source.barrier !== null) return false;
    const way = begunAgain.has(source) ? null : wayOf(source);
    return way !== null && way.end === null && begunAgain.has(way.last);
  });
}

/** Fallbacks that only failures of the restarted jobs have entered. No failure leads there any more. */
function fallbacksPutBack(jobs: readonly Job[], reblocked: readonly Job[]): Job[] {
  const begunAgain = new Set([...jobs, ...reblocked]);
  const found: Job[] = [];
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const source of begunAgain) {
    for (const { to } of source.step.failureEdges) {
      const target = source.scope.jobs.get(to);
      if (target === undefined || begunAgain.has(target) || !mayBePutBack(target)) continue;
      const isAskedFor = [...target.routedHere].some(
        (other) => !begunAgain.has(other) && other.status === "failed" && other.route?.target === target,
      );
      if (isAskedFor) continue;
      begunAgain.add(target);
      found.push(target);
    }
  }
  return found;
}

/** It did not succeed in a visit that a failure had led to, or was canceled before anything had. */
function mayBePutBack({ status, barrier, scope, step, entered, ledBy }: Job): boolean {
  if (barrier !== null || !scope.open || step.definition.start !== "routed") return false;
  if (ledBy?.route === "edge") return status === "failed" || status === "canceled";
  return status === "canceled" && !entered;
}

/** A step that has ended gets a new visit; one that waits or climbs goes on in its visit; one that runs is ended first. */
function hardReset(decision: Decision, job: Job, reason: string, key: string | null): void {
  if (job.status === "failed" || job.status === "held")
    return retryJobs(decision, {
      jobs: [job],
      reblocked: [],
      action: "hard_reset_step",
      reason,
      key,
      afresh: true,
    });
  reserveReset(decision, job, reason, key);
  if (job.status === "running")
    decision.emit({ type: "jobs.stopping", jobs: [job.id], because: "reset", reason: "hard_reset_step" });
}

/** Restarts a dead letter from its checkpoints, including the queue's attempts. */
function redrive(decision: Decision, job: Job, reason: string, key: string | null): void {
  const afresh = job.step.definition.usesWorkspace;
  retryJobs(decision, { jobs: [job], reblocked: [], action: "redrive", reason, key, afresh });
}

function reserveReset(decision: Decision, job: Job, reason: string, key: string | null): void {
  const { attempt } = job;
  decision.emit({
    type: "reset.reserved",
    job: job.id,
    attempt,
    trigger: "operator",
    reset: null,
    max: null,
    reason,
    key,
  });
}

function startRouted(decision: Decision, job: Job): void {
  if (job.status === "blocked" && job.evaluation === null) readyAfterIf(decision, job, "operator");
}

function givenUpBehind(run: Run, jobs: readonly Job[]): Job[] {
  const found = new Set<Job>();
  const given = new Set(jobs);
  const queue = [...jobs];
  for (const job of queue) {
    const dependents = [...waitingFor(job)].map(({ job: dependent }) => dependent);
    for (const dependent of job.step.definition.forEach
      ? [...dependents, ...reducersWaiting(run, job)]
      : dependents) {
      if (found.has(dependent) || given.has(dependent)) continue;
      if (dependent.barrier !== null || !isGivenUp(dependent)) continue;
      found.add(dependent);
      queue.push(dependent);
    }
  }
  return [...found];
}

/** Not one that a person has skipped, or whose dependents have had what they need. */
function isGivenUp(job: Job): boolean {
  return (job.status === "canceled" || job.status === "skipped") && job.settledAs === "lost";
}

/** An operator's goto to any step; it costs no loop. */
function resumeFrom(
  decision: Decision,
  target: Job,
  { reason, key, files = "restore" }: Extract<OperatorCommand, { type: "step.resume_from" }>,
): void {
  reopen(decision, reason, key);
  decision.emit({
    type: "operator.goto",
    target: target.id,
    to: target.step.definition.id,
    jobs: descendants(decision.run, target).map(({ id }) => id),
    reason,
    key,
  });
  openBarrierOver(decision, target, { forced: true, from: null, edge: null, files });
}

function resetFailed(decision: Decision, reason: string, key: string | null): void {
  beginAgain(decision, new Set(jobsToReset(decision.run)), { action: "reset", reason, key });
}

function retrySeveral(
  decision: Decision,
  { job, also = [], reason, key }: Extract<OperatorCommand, { type: "step.retry" }>,
): void {
  const wanted = new Set([job, ...also].map((id) => jobById(decision.run, id)));
  beginAgain(decision, wanted, { action: "retry_step", reason, key });
}

/** Exactly these, with what they are given. */
function recoverJobs(
  decision: Decision,
  { items, reason, key }: Extract<OperatorCommand, { type: "jobs.recover" }>,
): void {
  const wanted = new Set(items.map(({ job }) => jobById(decision.run, job)));
  const raised = items.flatMap(({ job, amounts }) => raisesOf(decision.run, job, amounts));
  beginAgain(decision, wanted, { action: "recover", raised, reason, key });
}

function raisesOf(run: Run, job: number, amounts: Amounts | undefined): JobRaise[] {
  return raisesTo(jobById(run, job), amounts).map((raise) => ({ job, ...raise }));
}

function beginAgain(
  decision: Decision,
  wanted: ReadonlySet<Job>,
  how: Pick<Retried, "action" | "raised" | "reason" | "key">,
): void {
  // These wait until they are routed to again: they had not begun, or what routed to them runs again itself.
  const reblocked = new Set(
    [...wanted].filter((job) => {
      const routedBy = job.partOf ?? (job.ledBy?.route === "edge" ? job.ledBy.job : null);
      return routedBy === null
        ? !job.entered && job.step.definition.start === "routed"
        : wanted.has(routedBy);
    }),
  );
  const jobs = [...wanted].filter((job) => !reblocked.has(job));
  if (jobs.length > 0) retryJobs(decision, { jobs, reblocked: [...reblocked], ...how });
}

/** Resolves a hold. `key` is that of the operator's command; `expired` means that nobody decided in time. */
export function resolveHold(
  decision: Decision,
  { job: id, action, output, items, amounts }: HoldDecision,
  reason: string,
  decided: { readonly key: string | null; readonly expired?: true },
): void {
  const job = jobById(decision.run, id);
  // An item before this one may have ended the run's or the scope's holds.
  if (job.status !== "held") return;
  const first = job.settledAs === null;
  decision.emit({ type: "hold.resolved", job: id, action, reason, ...decided, output, items });
  switch (action) {
    case "retry":
      return retryJobs(decision, {
        jobs: [job],
        reblocked: [],
        action: "resolve",
        raised: raisesOf(decision.run, id, amounts),
        reason,
        key: null,
      });
    case "fail":
      return failJob(decision, job, job.error?.code ?? "FAILED", job.error?.message ?? "failed by decision");
    case "skip":
    case "complete":
      if (job.followingUp) return followUp(decision, job);
      if (first) openScopesOf(decision, job);
      return decision.add({ kind: "settled", jobs: [job] });
  }
}

/** A person's word ends the attempt: as a success with the choice as output, or as a failure if the choice rejects. */
function answer(decision: Decision, command: Extract<OperatorCommand, { type: "human.answer" }>): void {
  const job = jobById(decision.run, command.job);
  decision.emit({
    type: "human.answered",
    job: job.id,
    attempt: job.attempt,
    choice: command.choice,
    text: command.text,
    ...(command.reason === undefined ? {} : { reason: command.reason }),
    key: command.key,
  });
}
