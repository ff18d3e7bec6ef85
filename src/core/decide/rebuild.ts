import type { Barrier } from "../model/barrier.js";
import type { Command } from "../model/commands.js";
import type { AttemptName, KeptFiles, KeptLeftover, MovedCheckpoint } from "../model/events.js";
import { isOver, type Job, type Run } from "../model/run.js";
import {
  awaitsRestore,
  checkpointsToReplay,
  isWorkspaceFree,
  type Rebuild,
} from "../model/workspace-state.js";
import { hasTree } from "../model/workspace-turn.js";
import type { Decision } from "./decision.js";
import { failJob } from "./ladder/fail.js";
import { climb } from "./ladder/ladder.js";

/**
 * After every decision: let go of a fresh workspace that nobody wants any more, and begin the next one that somebody
 * waits for. One at a time, and never while a step is at work, whose changes it would miss.
 */
export function driveWorkspace(decision: Decision, isActedOn: boolean): void {
  const { run } = decision;
  if (!run.definition.workspace) return;
  discardUnwanted(decision);
  if (!isActedOn || isOver(run) || !isWorkspaceFree(run)) return;
  const barrier = run.paused === null ? [...run.barriers.values()].find(isToRestore) : undefined;
  if (barrier !== undefined) return beginRebuild(decision, [...barrier.targets.keys()][0]!, barrier);
  const job = [...run.workspace.resetting].find((candidate) => mayBegin(run, candidate));
  if (job !== undefined) beginRebuild(decision, job, null);
}

function isToRestore(barrier: Barrier): boolean {
  return barrier.endingAttempts.size === 0 && awaitsRestore(barrier);
}

/** Nothing new starts in a paused run, but what an operator asks for is what the pause is for. */
function mayBegin(run: Run, job: Job): boolean {
  if (job.status !== "recovering" || !hasTree(run, job)) return false;
  return run.paused === null || job.reset?.trigger === "operator";
}

function beginRebuild(decision: Decision, job: Job, barrier: Barrier | null): void {
  const { run } = decision;
  decision.emit({
    type: "rebuild.started",
    rebuild: run.workspace.nextRebuild,
    job: job.id,
    barrier: barrier?.id ?? null,
    try: 1,
    replay: checkpointsToReplay(run, barrier),
    ...leftoverToKeep(run, barrier),
  });
}

/** A fresh workspace takes the place of the old one, with all that lies there. Of an attempt that failed there is a patch. */
function leftoverToKeep({ workspace }: Run, barrier: Barrier | null): { leftover?: AttemptName } {
  const { leftover } = workspace;
  if (leftover === null) return {};
  const hasFailed = !leftover.lost && leftover.job.error?.attempt === leftover.attempt;
  if (barrier === null && hasFailed) return {};
  return { leftover: { job: leftover.job.id, attempt: leftover.attempt } };
}

/** A goto, a cancel or a rung that looks elsewhere has taken the job away from its fresh workspace. */
function discardUnwanted(decision: Decision): void {
  const { rebuild } = decision.run.workspace;
  if (rebuild === null || isWanted(decision.run, rebuild)) return;
  const { id, job, path, built } = rebuild;
  const reason = built ? "the step did not complete in it" : "it is no longer needed";
  decision.emit({ type: "workspace.discarded", rebuild: id, job: job.id, path, reason });
}

function isWanted(run: Run, { id, job, barrier, visit, built }: Rebuild): boolean {
  if (barrier !== null) return run.barriers.get(barrier)?.rebuild === id;
  if (!built) return job.reset !== null;
  const atWork = ["ready", "running", "waiting", "recovering"].includes(job.status);
  return (
    atWork &&
    job.visit === visit &&
    job.reset === null &&
    job.list === null &&
    !job.queue.waiting &&
    job.parked === null
  );
}

/** The fresh workspace stands, or could not be built: then the old one is as it was. */
export function finishRebuild(
  decision: Decision,
  command: Extract<Command, { type: "rebuild.finish" }>,
): void {
  const { rebuild } = decision.run.workspace;
  if (rebuild === null || rebuild.id !== command.rebuild || rebuild.built) return;
  const {
    ok,
    path,
    message,
    moved = [],
    partial = null,
    others = null,
    previous = null,
    duration_ms,
  } = command;
  const made = {
    ...(moved.length === 0 ? {} : { moved }),
    ...(partial === null ? {} : { partial }),
    ...(others === null ? {} : { others }),
    ...(previous === null ? {} : { previous }),
  };
  endRebuild(decision, rebuild, { ok: ok && path !== null, path, message, ...made, duration_ms });
}

interface Ended {
  readonly ok: boolean;
  readonly path: string | null;
  readonly message: string;
  readonly moved?: readonly MovedCheckpoint[];
  readonly partial?: KeptLeftover;
  readonly others?: KeptFiles;
  readonly previous?: string;
  readonly duration_ms: number;
}

function endRebuild(decision: Decision, rebuild: Rebuild, ended: Ended): void {
  const { id, job, barrier } = rebuild;
  const trigger = job.reset?.trigger ?? null;
  decision.emit({ type: "rebuild.finished", rebuild: id, job: job.id, ...ended });
  if (barrier !== null) {
    if (ended.ok) decision.emit({ type: "workspace.promoted", rebuild: id, job: job.id, path: ended.path! });
    return decision.add({ kind: "barriers" });
  }
  if (ended.ok) {
    const reason =
      trigger === "requeue" ? "requeue" : trigger === "operator" ? ("operator" as const) : "reset";
    return decision.emit({ type: "jobs.ready", jobs: [job.id], reason });
  }
  if (trigger === "operator" || job.error === null)
    failJob(decision, job, "RESET_FAILED", `the workspace could not be rebuilt: ${ended.message}`);
  else climbOn(decision, job, ended.message);
  decision.add({ kind: "barriers" });
}

/** The rung that wanted the fresh workspace could not act after all: the climb goes on above it. */
function climbOn(decision: Decision, job: Job, message: string): void {
  const { rung } = job.climbed.at(-1) ?? { rung: "reset" as const };
  const reason = `the workspace could not be rebuilt: ${message}`;
  climb(decision, job, [
    ...job.climbed.slice(0, -1),
    { rung, applied: false, kind: "rebuild_failed", reason },
  ]);
}

/** The engine died while it built: it builds again, but not for ever. */
export function repeatRebuild(decision: Decision, kept: ReadonlySet<number>): void {
  const { run } = decision;
  const { rebuild } = run.workspace;
  if (rebuild === null || rebuild.built || kept.has(rebuild.job.id) || !isWanted(run, rebuild)) return;
  if (rebuild.tries > Math.max(1, run.definition.maxRecoveries)) {
    return endRebuild(decision, rebuild, {
      ok: false,
      path: null,
      message: "lost with its engine",
      duration_ms: 0,
    });
  }
  const barrier = rebuild.barrier === null ? null : (run.barriers.get(rebuild.barrier) ?? null);
  decision.emit({
    type: "rebuild.started",
    rebuild: rebuild.id,
    job: rebuild.job.id,
    barrier: rebuild.barrier,
    try: rebuild.tries + 1,
    replay: checkpointsToReplay(run, barrier),
    ...leftoverToKeep(run, barrier),
  });
}

/** The step has completed in the workspace that was built for it: from now on it is the run's. */
export function promoteWorkspace(decision: Decision, job: Job): void {
  const { rebuild } = decision.run.workspace;
  if (rebuild === null || rebuild.job !== job || !rebuild.built) return;
  decision.emit({
    type: "workspace.promoted",
    rebuild: rebuild.id,
    job: job.id,
    path: rebuild.path!,
  });
}

/** A requeued job's turn has come: where it works in a workspace, in a fresh one made of the checkpoints. */
export function leaveQueue(decision: Decision, job: Job): void {
  if (!job.step.definition.usesWorkspace)
    return decision.emit({ type: "jobs.ready", jobs: [job.id], reason: "requeue" });
  decision.emit({
    type: "reset.reserved",
    job: job.id,
    attempt: job.attempt,
    trigger: "requeue",
    reset: null,
    max: null,
    reason: `round ${job.queue.requeues + 1} of the queue`,
    key: null,
  });
}

/** The run's new owner has built the workspace in a folder of its own. */
export function moveWorkspace(
  decision: Decision,
  command: Extract<Command, { type: "workspace.move" }>,
): void {
  const { moved = [], ...to } = command;
  if (decision.run.workspace.commit === null) return;
  decision.emit({ ...to, ...(moved.length === 0 ? {} : { moved }), type: "workspace.moved" });
}

/** Told once, however often the same server tries. */
export function leaveWorkspace(
  decision: Decision,
  { host, message }: Extract<Command, { type: "workspace.leave" }>,
): void {
  const { left } = decision.run.workspace;
  if (left?.host === host && left.message === message) return;
  decision.emit({ type: "workspace.left", host, message });
}
