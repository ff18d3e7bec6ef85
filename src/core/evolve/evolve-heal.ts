import { noteBriefly, noteFailure } from "../failure/no-progress.js";
import type { EventOf, HealEvent, MovedCheckpoint, WorkspaceHome } from "../model/events.js";
import { NEW_HEAL_STATE } from "../model/heal-state.js";
import { hintIn } from "../model/led-by.js";
import { change, type Job, jobById, type Run } from "../model/run.js";
import type { WorkspaceState } from "../model/workspace-state.js";
import {
  beginAfresh,
  keptOf,
  knownBefore,
  leaveFresh,
  leavePatchesBehind,
  ownersOf,
  takeAway,
} from "./earlier-files.js";
import { finishSetAside, startSetAside } from "./evolve-tree.js";

export function evolveHeal(run: Run, event: HealEvent, at: number): void {
  const { workspace } = run;
  switch (event.type) {
    case "reset.reserved":
      return reserveReset(run, event);
    case "requeue.scheduled":
      return change(run, jobById(run, event.job), (job) => {
        job.status = "waiting";
        job.dueAt = event.due_at;
        job.waitMs = event.delay_ms;
        job.queue = { ...job.queue, requeues: event.requeue, waiting: true };
        // A round of the queue has the budgets of a new visit.
        job.retriesInVisit = 0;
        job.restartsInVisit = 0;
        job.heal = NEW_HEAL_STATE;
      });
    case "job.dead_lettered":
      return change(run, jobById(run, event.job), (job) => {
        job.queue = { ...job.queue, dead: true };
      });
    case "workspace.opened":
      workspace.commit = event.commit;
      workspace.base = event.base ?? event.commit;
      workspace.notes = event.notes ?? [];
      workspace.path = event.path;
      workspace.home = homeOf(event);
      return;
    case "workspace.moved":
      return move(run, event);
    case "workspace.left":
      workspace.left = { host: event.host, message: event.message };
      return;
    case "rebuild.started":
      return startRebuild(run, event);
    case "rebuild.finished":
      if (event.partial) workspace.partials.push({ ...event.partial, at });
      return finishRebuild(run, event);
    case "set_aside.started":
      return startSetAside(run, event);
    case "set_aside.finished":
      return finishSetAside(run, event, at);
    case "workspace.promoted":
      return promote(run, event.path);
    case "workspace.discarded":
      return discard(run);
  }
}

/** What the failure says of the step's progress. */
export function noteProgress(
  job: Job,
  { error, no_progress: noProgress = null }: EventOf<"attempt.failed">,
): void {
  job.heal = noteBriefly(job.heal, error, noProgress);
  if (typeof job.step.definition.noProgressLimit === "number")
    job.heal = noteFailure(job.heal, error, noProgress);
}

/** A running attempt is ended first; the job is recovering from then on. */
function reserveReset(run: Run, event: EventOf<"reset.reserved">): void {
  if (event.key !== null) run.operatorKeys.add(event.key);
  if (event.trigger === "no_progress") run.workspace.resets += 1;
  change(run, jobById(run, event.job), (job) => {
    job.reset = { trigger: event.trigger };
    if (event.trigger === "operator") job.hint = hintIn(event);
    job.evaluation = null;
    job.dueAt = null;
    if (job.queue.waiting) job.queue = { ...job.queue, waiting: false };
    if (event.trigger === "no_progress") job.heal = { ...job.heal, resets: job.heal.resets + 1 };
    if (job.status !== "running") job.status = "recovering";
  });
}

function startRebuild(run: Run, event: EventOf<"rebuild.started">): void {
  const { workspace } = run;
  const job = jobById(run, event.job);
  if (workspace.rebuild?.id === event.rebuild) {
    workspace.rebuild.tries = event.try;
    return;
  }
  workspace.nextRebuild = event.rebuild + 1;
  workspace.rebuild = {
    id: event.rebuild,
    job,
    visit: job.visit,
    barrier: event.barrier,
    tries: event.try,
    built: false,
    path: null,
    leftover: null,
    before: null,
    moved: [],
  };
  const barrier = event.barrier === null ? undefined : run.barriers.get(event.barrier);
  if (barrier !== undefined) barrier.rebuild = event.rebuild;
}

function finishRebuild(run: Run, event: EventOf<"rebuild.finished">): void {
  const { workspace } = run;
  const { rebuild } = workspace;
  if (rebuild === null) return;
  const barrier = rebuild.barrier === null ? undefined : run.barriers.get(rebuild.barrier);
  if (barrier !== undefined) {
    const { ok, message, previous } = event;
    barrier.restored = { ok, message, ...(previous === undefined ? {} : { previous }) };
  }
  rebuild.built = event.ok;
  rebuild.path = event.path;
  rebuild.moved = event.moved ?? [];
  if (!event.ok) workspace.rebuild = null;
  if (rebuild.barrier !== null) return;
  change(run, rebuild.job, (job) => {
    job.reset = null;
    if (!event.ok) return;
    rebuild.before = knownBefore(job);
    beginAfresh(job, event.partial ?? null);
  });
}

/** Its job is where it was before. */
function discard({ workspace }: Run): void {
  const { rebuild } = workspace;
  workspace.rebuild = null;
  if (rebuild?.before != null && rebuild.job.visit === rebuild.visit) leaveFresh(rebuild.job, rebuild.before);
}

/**
 * What was left in the old tree has gone with it; where a goto has taken it back, so has the claim of every failure in it,
 * but not that of a target which another failure has sent the run back to, and which has not begun.
 */
function promote(run: Run, path: string): void {
  const { workspace } = run;
  const { leftover, rebuild } = workspace;
  renameCheckpoints(workspace, rebuild?.moved ?? []);
  if (leftover !== null) {
    const barrier = rebuild?.barrier == null ? undefined : run.barriers.get(rebuild.barrier);
    // A job that continues in it has been told, or will be when the barrier has closed.
    const owners = ownersOf(run, leftover).filter(
      (job) => job !== rebuild?.job && !barrier?.members.has(job),
    );
    takeAway(owners, leftover, { state: "set_back", patch: keptOf(run, leftover)?.patch ?? null });
  }
  if (rebuild?.barrier !== null) workspace.mending = workspace.mending.filter(({ sentBack }) => sentBack);
  workspace.leftover = null;
  workspace.path = path;
  workspace.rebuild = null;
}

/**
 * What was tried out beside the old workspace is gone with it, and what attempts left stays behind: the new one holds the
 * checkpoints and nothing else. A failure that is being mended has the new one as it had the old one.
 */
function move(run: Run, event: EventOf<"workspace.moved">): void {
  const { workspace, jobs } = run;
  for (const job of jobs) leavePatchesBehind(job);
  const { leftover } = workspace;
  if (leftover !== null) takeAway(ownersOf(run, leftover), leftover, { state: "fresh", patch: null });
  renameCheckpoints(workspace, event.moved ?? []);
  workspace.path = event.path;
  workspace.home = homeOf(event);
  workspace.left = null;
  workspace.leftover = null;
  workspace.runningIn = "left_behind";
  workspace.aside = null;
  if (workspace.rebuild?.built) workspace.rebuild = null;
}

function renameCheckpoints({ checkpoints }: WorkspaceState, moved: readonly MovedCheckpoint[]): void {
  const commits = new Map(moved.map(({ ordinal, commit }) => [ordinal, commit]));
  for (const checkpoint of checkpoints)
    checkpoint.commit = commits.get(checkpoint.ordinal) ?? checkpoint.commit;
}

function homeOf({ home, host }: Partial<WorkspaceHome>): WorkspaceHome | null {
  return home === undefined || host === undefined ? null : { home, host };
}
