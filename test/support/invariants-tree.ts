import type { Definition } from "../../src/core/model/definition.js";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { JobBook } from "./job-book.js";
import { MendingBook } from "./mending-book.js";

type Log = readonly LoggedEvent[];

/** From a failed attempt in the tree until nobody mends its failure, no other job's attempt begins there. */
export function theTreeBelongsToAFailureWhileItIsMended(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const mending = new MendingBook();
  const usesTree = (id: number): boolean => book.of(id).step.definition.usesWorkspace;
  const restoring = new Set<number>();
  let failed: number | null = null as number | null;
  for (const { seq, event } of log) {
    const found = failed === null ? null : mending.whoMends(failed);
    const mender = "kept_back" in event && event.kept_back === found ? null : found;
    if (event.type === "attempt.started" && usesTree(event.job)) {
      if (mender !== null && mender !== event.job)
        return `at ${seq} ${book.name(event.job)} starts in the tree of ${book.name(failed!)}, at which ${book.name(mender)} is`;
      if (mender !== event.job) failed = null;
    }
    if (isLeaving(event) && usesTree(event.job) && mender !== event.job) failed = event.job;
    if (failed !== null && beginsAnew(event, failed)) failed = null;
    if (event.type === "rebuild.started" && event.barrier !== null) restoring.add(event.rebuild);
    if (event.type === "workspace.promoted" && restoring.has(event.rebuild)) failed = null;
    if (event.type === "attempt.succeeded" && failed === event.job) failed = null;
    mending.note(event);
    const isLetGo = mending.letGo !== null || event.type === "requeue.scheduled" || event.type === "job.held";
    if (isLetGo && failed !== null && mending.whoMends(failed) === null) failed = null;
  }
  return null;
}

/** From the barrier that a failure opens until its target begins, no other step that mends nothing begins in the tree. */
export function nobodyComesBetweenAWayBackAndItsTarget(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const mending = new MendingBook();
  const failed = new Set<number>();
  const targets = new Set<number>();
  const awaited = new Set<number>();
  for (const { seq, event } of log) {
    if (event.type === "barrier.opened" && event.from !== null) targets.add(event.target);
    if (event.type === "attempt.started" && book.of(event.job).step.definition.usesWorkspace) {
      const isMending = [...failed].some((job) => mending.whoMends(job) === event.job);
      const mayStart =
        isMending || awaited.has(event.job) || [...awaited].some((job) => isKeptBack(event, job));
      const isFree = book.of(event.job).step.atEnd !== null || mayStart;
      const [first] = awaited;
      if (first !== undefined && !isFree)
        return `at ${seq} ${book.name(event.job)} starts before ${book.name(first)}, to which a failure has led back`;
    }
    for (const job of awaited) if (letsGo(event, job) || isKeptBack(event, job)) awaited.delete(job);
    if (event.type === "jobs.ready" && event.reason === "goto")
      for (const job of event.jobs) if (targets.delete(job)) awaited.add(job);
    if (isLeaving(event)) failed.add(event.job);
    mending.note(event);
  }
  return null;
}

/** A breaker is open for the job, so that another one starts in its place: from then on the tree is nobody's. */
function isKeptBack(event: Event, job: number): boolean {
  return event.type === "attempt.started" && event.kept_back === job;
}

/** The job has begun, or something else has become of it. */
function letsGo(event: Event, job: number): boolean {
  if ("job" in event && event.job === job) return true;
  if (event.type === "barrier.opened") return event.members.includes(job);
  return "jobs" in event && Array.isArray(event.jobs) && (event.jobs as readonly unknown[]).includes(job);
}

/** A tree holds the checkpoints, and beyond them what the job itself left or those whose failure it mends. */
export function nothingStartsAmongTheRemainsOfOthers(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const remains = new Remains(definition);
  for (const { seq, event } of log) {
    if ("job" in event && "attempt" in event && book.of(event.job).step.definition.usesWorkspace) {
      const { atEnd } = book.of(event.job).step;
      // Undo and finally steps see the tree as it is.
      const isBound = event.type === "attempt.started" && atEnd === null;
      const wrong = isBound ? remains.wrongFor(event.job) : null;
      if (wrong !== null) return `at ${seq} ${book.name(event.job)} starts in what ${book.name(wrong)} left`;
      remains.noteAttempt(event, atEnd === null);
    }
    remains.note(event);
  }
  return null;
}

/** No tree that anything starts in any more. */
const LEFT_BEHIND = -1;

interface Left {
  readonly job: number;
  readonly lost: boolean;
  /** The run has gone back over its step. */
  readonly back?: true;
  /** What another job left is there as well. */
  readonly others: boolean;
}

class Remains {
  /** By fresh workspace; 0 is the run's own. */
  private readonly left = new Map<number, Left>();
  private readonly kin = new Map<number, Set<number>>();
  private fresh: { readonly id: number; readonly job: number; built: boolean } | null = null;
  /** By barrier: whose failure has opened it last. */
  private readonly sources = new Map<number, number>();
  private runningIn = 0;
  private clearing = 0;

  constructor(private readonly definition: Definition) {}

  /** The job whose remains are in this one's way. */
  wrongFor(job: number): number | null {
    const own = this.left.get(0);
    if (own !== undefined && (own.back || !this.kinOf(job).has(own.job))) return own.job;
    const at = this.left.get(this.treeOf(job));
    return at?.lost && !at.others && this.definition.workspace?.onLost !== "keep" ? at.job : null;
  }

  noteAttempt(event: Extract<Event, { readonly attempt: number }>, leavesCheckpoint: boolean): void {
    if (event.type === "attempt.started") this.runningIn = this.treeOf(event.job);
    if (event.type === "attempt.succeeded" && leavesCheckpoint) this.left.delete(this.runningIn);
    else if (event.type === "attempt.succeeded")
      this.left.set(this.runningIn, { job: event.job, lost: false, others: false });
    if (event.type === "attempt.failed" || event.type === "attempt.stopped") {
      const found = this.left.get(this.runningIn);
      const others = found !== undefined && (found.job !== event.job || found.others);
      this.left.set(this.runningIn, { job: event.job, lost: isLost(event), others });
    }
    if (event.type === "set_aside.started") this.clearing = event.rebuild ?? 0;
    if (event.type === "set_aside.finished" && event.ok) this.left.delete(this.clearing);
  }

  note(event: Event): void {
    if (event.type === "visit.entered") this.relate(event.job, event.by);
    if (event.type === "edge.taken" && event.on === "failure") this.relate(event.job, event.target);
    if (event.type === "barrier.opened" && event.from !== null) this.sources.set(event.barrier, event.from);
    if (event.type === "barrier.closed") this.goBack(event);
    if (event.type === "rebuild.started") this.fresh = { id: event.rebuild, job: event.job, built: false };
    if (event.type === "rebuild.finished" && this.fresh !== null) this.fresh.built = event.ok;
    if (event.type === "workspace.promoted" || event.type === "workspace.discarded") {
      this.left.delete(event.rebuild);
      this.fresh = null;
    }
    if (event.type === "workspace.promoted") this.left.delete(0);
    if (event.type === "workspace.moved") this.leaveBehind();
  }

  private goBack({ barrier, invalidated, retired }: Extract<Event, { type: "barrier.closed" }>): void {
    const left = this.left.get(0);
    const isBehind =
      left !== undefined && [...invalidated, ...retired, this.sources.get(barrier)].includes(left.job);
    if (isBehind) this.left.set(0, { ...left, back: true });
  }

  /** The new one has the checkpoints and nothing else; what is only being built is built there. */
  private leaveBehind(): void {
    this.left.clear();
    this.runningIn = LEFT_BEHIND;
    if (this.fresh?.built) this.fresh = null;
  }

  private treeOf(job: number): number {
    return this.fresh?.built && this.fresh.job === job ? this.fresh.id : 0;
  }

  private relate(one: number, other: number): void {
    const all = new Set([...this.kinOf(one), ...this.kinOf(other)]);
    for (const job of all) this.kin.set(job, all);
  }

  private kinOf(job: number): Set<number> {
    return this.kin.get(job) ?? new Set([job]);
  }
}

/** The job has a new visit, and its failure is of the one before. */
function beginsAnew(event: Event, job: number): boolean {
  if (event.type === "visit.entered") return event.job === job;
  if (event.type === "jobs.retried") return event.jobs.includes(job) || event.reblocked.includes(job);
  return event.type === "barrier.closed" && event.invalidated.includes(job);
}

function isLeaving(event: Event): event is Extract<Event, { type: "attempt.failed" | "attempt.stopped" }> {
  return (
    event.type === "attempt.failed" || (event.type === "attempt.stopped" && event.because === "interrupted")
  );
}

function isLost(event: Event): boolean {
  if (event.type === "attempt.failed") return event.error.class === "infrastructure";
  return event.type === "attempt.stopped" && event.because === "interrupted";
}

/**
 * What is set aside is so to its end before anything starts in the workspace, and before the run ends or is held; where
 * the run moves away from it there is nothing left to be done.
 */
export function settingAsideComesToItsEnd(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  let open: number | null = null as number | null;
  for (const { seq, event } of log) {
    switch (event.type) {
      case "set_aside.started":
        if (open !== null && event.try === 1) return `at ${seq} something is set aside while something is`;
        if (event.try > 1 + Math.max(1, definition.maxRecoveries))
          return `at ${seq} something is set aside for the ${event.try}th time`;
        open = event.job;
        break;
      case "set_aside.finished":
        if (open !== event.job) return `at ${seq} what ${book.name(event.job)} left is set aside unasked`;
        open = null;
        break;
      case "workspace.moved":
        open = null;
        break;
      case "attempt.started":
        if (open !== null && book.of(event.job).step.definition.usesWorkspace)
          return `at ${seq} ${book.name(event.job)} starts while the tree is cleared`;
        break;
      case "rebuild.started":
        if (open !== null) return `at ${seq} a workspace is built while the tree is cleared`;
        break;
      case "run.held":
      case "run.completed":
      case "run.failed":
      case "run.canceled":
        if (open !== null) return `at ${seq} the run ends while the tree is cleared`;
        break;
      default:
        break;
    }
  }
  return null;
}
