import type { RunEnd, UndoItem } from "../../model/ending/run-ending.js";
import type { Event } from "../../model/events.js";
import { gateState } from "../../model/gate.js";
import { isCaught, isHandled } from "../../model/handled.js";
import { isAtRest } from "../../model/resting.js";
import { isOver, type Job, type Run } from "../../model/run.js";
import { follow } from "../agenda.js";
import { readyAfterIf } from "../ask.js";
import type { Decision } from "../decision.js";
import { jobIn } from "../targets.js";

/** How many blocked jobs a STALLED message names. */
const STALL_DUMP_JOBS = 20;

/** Nothing ready, running, waiting or recovering, no expression, list or barrier open. */
function isQuiescent(run: Run): boolean {
  return run.busy === 0 && run.barriers.size === 0;
}

/** End the run if nothing can go on: skip what nobody routed to, and if that starts nothing, say how it went. */
export function endIfQuiescent(decision: Decision): void {
  const { run } = decision;
  if (isOver(run) || run.status === "pending" || !isAtRest(run)) return;
  if (run.ending !== null) return goOnEnding(decision);
  if (run.cancelRequested !== null) return beginEnding(decision);
  if (run.paused !== null) return;
  if (run.held.size > 0) return holdRun(decision);
  settleRoutes(decision);
  if (!isQuiescent(run)) return;
  skipUnrouted(decision);
  if (!isQuiescent(run)) return;
  beginEnding(decision);
}

/** The run would end now. What it has done is undone, unless it completed, and its `finally` steps run, before it does. */
function beginEnding(decision: Decision): void {
  const { run } = decision;
  const end = lastEvent(run);
  const undoes = end.type !== "run.completed" && jobsToUndo(run).length > 0;
  const hasFinally = (run.definition.finally ?? []).length > 0;
  const isAllowed = run.options.only === null && run.cancelRequested?.now !== true;
  if (!isAllowed || (!undoes && !hasFinally)) return decision.emit(end);
  decision.emit({ type: "run.ending", ...outcomeOf(end) });
  if (undoes) startUndo(decision);
  goOnEnding(decision);
}

/** The undo or finally step that had its turn is settled or held. One at a time, undo before finally. */
function goOnEnding(decision: Decision): void {
  const { run } = decision;
  const isCutShort = run.cancelRequested?.now === true;
  if (run.paused !== null && !isCutShort) return;
  if (run.held.size > 0) return holdRun(decision);
  leaveUndo(decision);
  if (!isCutShort && (enterNextUndo(decision) || enterNextFinally(decision))) return;
  decision.emit(lastEvent(run));
}

type LastEvent = Extract<Event, { type: "run.completed" | "run.failed" | "run.canceled" }>;

function outcomeOf(end: LastEvent): Omit<Extract<Event, { type: "run.ending" }>, "type"> {
  switch (end.type) {
    case "run.completed":
      return { status: "completed", code: null, message: "" };
    case "run.failed":
      return { status: "failed", code: end.code, message: end.message };
    case "run.canceled":
      return { status: "canceled", code: end.code ?? null, message: end.reason };
  }
}

/** Only holds are left. */
function holdRun(decision: Decision): void {
  const { run } = decision;
  if (run.status !== "held") decision.emit({ type: "run.held", jobs: [...run.held].map((job) => job.id) });
}

/** Routed failures lead nowhere any more: their dependents are skipped where the failure is handled, else canceled. */
function settleRoutes(decision: Decision): void {
  const { run } = decision;
  const routed = [...run.routed];
  if (routed.length === 0) return;
  const handled = routed.filter(isHandled);
  const unhandled = routed.filter((job) => !isHandled(job));
  decision.emit({
    type: "routes.settled",
    handled: handled.map((job) => job.id),
    unhandled: unhandled.map((job) => job.id),
  });
  follow(decision, { kind: "settled", jobs: routed });
}

function skipUnrouted(decision: Decision): void {
  const unrouted = decision.run.jobs.filter(
    (job) => job.status === "blocked" && job.step.definition.start === "routed",
  );
  if (unrouted.length === 0) return;
  decision.emit({
    type: "jobs.skipped",
    jobs: unrouted.map((job) => job.id),
    because: "not_routed",
    reason: "no step routed to it",
  });
  follow(decision, { kind: "settled", jobs: unrouted });
}

/** How the run ends, as it stands. What undoes and finishes it is left out, but for a `finally` step of one that completed. */
function lastEvent(run: Run): LastEvent {
  // Canceling the undo phase of a failed run does not change that it failed.
  if (run.cancelRequested !== null && run.ending?.status !== "failed") return canceled(run.cancelRequested);
  const blocked = run.jobs.filter((job) => job.status === "blocked");
  if (blocked.length > 0)
    return { type: "run.failed", code: "STALLED", message: describeStall(blocked), unhandled: [] };
  const failed = [...run.failed].filter((job) => job.step.atEnd === null);
  const own = failed.filter((job) => !isHandled(job));
  const atEnd = [...run.failed].filter((job) => job.step.atEnd !== null && !isHandled(job));
  const unhandled = [...own, ...atEnd];
  if (run.fatal !== null)
    return { type: "run.failed", ...run.fatal, unhandled: unhandled.map((job) => job.id) };
  const first = own.find((job) => job.partOf === null) ?? own[0];
  const abandoned = run.jobs.find(isGivenUp);
  if (first === undefined && abandoned !== undefined) {
    const message = `${abandoned.step.definition.id} was canceled and has not run again`;
    const ids = atEnd.map((job) => job.id);
    return { type: "run.failed", code: abandoned.failure?.code ?? "RUN_CANCELED", message, unhandled: ids };
  }
  if (first !== undefined) return failedWith(first.program?.because ?? first, unhandled);
  const unfinished = failedFinally(run);
  if (unfinished !== null) return failedWith(unfinished, unhandled);
  const handled = failed.filter((job) => !isCaught(job));
  return { type: "run.completed", handled: handled.map((job) => job.id) };
}

function canceled({ reason, code }: NonNullable<Run["cancelRequested"]>): LastEvent {
  return { type: "run.canceled", reason, ...(code === undefined ? {} : { code }) };
}

function failedWith({ step, failure }: Job, unhandled: readonly Job[]): LastEvent {
  const message = `${step.definition.id}: ${failure?.message ?? "failed"}`;
  return {
    type: "run.failed",
    code: failure?.code ?? "UNKNOWN",
    message,
    unhandled: unhandled.map((job) => job.id),
  };
}

/** A cancel or fail_fast gave it up, and what was retried since did not bring it back: the work is not all done. */
function isGivenUp(job: Job): boolean {
  return (
    job.status === "canceled" &&
    job.step.atEnd === null &&
    job.scope.open &&
    (job.failure?.code === "RUN_CANCELED" || job.failure?.code === "FAIL_FAST")
  );
}

function describeStall(blocked: readonly Job[]): string {
  const lines = blocked.slice(0, STALL_DUMP_JOBS).map((job) => {
    const gate = job.gate;
    return `${job.step.definition.id} in ${job.scope.id}: gate ${gateState(gate)}, ${gate.unmet} groups unmet, visit ${job.visit}`;
  });
  return `${blocked.length} jobs are blocked and nothing runs: ${lines.join("; ")}`;
}

/**
 * Enters the next finally step in the order of the file, whatever became of the previous one. Returns true if there is
 * one.
 */
function enterNextFinally(decision: Decision): boolean {
  const { run } = decision;
  const id = run.definition.finally?.[run.ending!.finally.length];
  if (id === undefined) return false;
  const job = jobIn(decision, run.root, run.graph.byId.get(id)!);
  const visit = job.entered ? job.visit + 1 : job.visit;
  decision.emit({ type: "finally.entered", job: job.id, visit });
  readyAfterIf(decision, job, "finally");
  return true;
}

/** The first that did not do what it is for: with it a run that completed has failed after all. */
function failedFinally(run: Run): Job | null {
  return run.ending?.finally.find((job) => job.status === "failed" && !isHandled(job)) ?? null;
}

/** How the run ends as it stands, for the steps that run at its end; null: for any other step. */
export function endSeenBy(run: Run, { step }: Job): RunEnd | null {
  if (step.atEnd === null || run.ending === null) return null;
  const { status, error } = run.ending;
  const failed = status === "completed" ? failedFinally(run) : null;
  if (failed === null) return { status, error };
  const { code = "UNKNOWN", message = "failed" } = failed.failure ?? {};
  return { status: "failed", error: { code, message: `${failed.step.definition.id}: ${message}` } };
}

/** What is to be undone: the jobs that have completed in this run, the newest completion first. */
function jobsToUndo(run: Run): Job[] {
  return [...run.undoable.keys()].reverse();
}

function startUndo(decision: Decision): void {
  const jobs = jobsToUndo(decision.run);
  if (jobs.length > 0) decision.emit({ type: "undo.started", jobs: jobs.map(({ id }) => id) });
}

/** The visit of an undo step is over, well or not. */
function leaveUndo(decision: Decision): void {
  const turn = decision.run.ending?.turn;
  if (turn == null || turn.item === null) return;
  const { job, item } = turn;
  decision.emit({ type: "undo.left", job: job.id, of: item.job.id, undone: hasUndone(job) });
}

/** It completed, by itself or by hand, or its `if` says that there is nothing to undo. */
function hasUndone({ status, settledAs }: Job): boolean {
  return status === "completed" || (status === "skipped" && settledAs === "lost");
}

/** One at a time: true if there is another. */
function enterNextUndo(decision: Decision): boolean {
  const { ending } = decision.run;
  const item = ending?.items?.[ending.next];
  if (item === undefined) return false;
  enterUndo(decision, item);
  return true;
}

function enterUndo(decision: Decision, { job: of }: UndoItem): void {
  const step = decision.run.graph.byId.get(of.step.definition.undo!)!;
  const job = jobIn(decision, of.scope, step);
  const visit = job.entered ? job.visit + 1 : job.visit;
  decision.emit({ type: "undo.entered", job: job.id, visit, of: of.id });
  readyAfterIf(decision, job, "undo");
}
