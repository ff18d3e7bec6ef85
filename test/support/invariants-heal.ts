import type { Definition } from "../../src/core/model/definition.js";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import type { GraphStep } from "../../src/core/model/graph.js";
import { JobBook } from "./job-book.js";

type Log = readonly LoggedEvent[];

export function workspaceStepsRunOneAtATime(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  let running: number | null = null;
  for (const { seq, event } of log) {
    if (!("attempt" in event) || !book.of(event.job).step.definition.usesWorkspace) continue;
    if (event.type === "attempt.started") {
      if (running !== null)
        return `at ${seq} ${book.name(event.job)} starts in the workspace beside ${book.name(running)}`;
      running = event.job;
    } else if (isEnd(event) && running === event.job) running = null;
  }
  return null;
}

function isEnd(event: Event): boolean {
  return (
    event.type === "attempt.succeeded" || event.type === "attempt.failed" || event.type === "attempt.stopped"
  );
}

interface Open {
  readonly id: number;
  readonly job: number;
  readonly built: boolean;
}

/** One at a time; nothing runs in the workspace meanwhile but the step that tries the fresh one out. */
export function freshWorkspacesComeOneByOne(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  let open: Open | null = null as Open | null;
  for (const { seq, event } of log) {
    switch (event.type) {
      case "rebuild.started":
        if (open !== null && open.id !== event.rebuild)
          return `at ${seq} rebuild ${event.rebuild} begins while ${open.id} is open`;
        if (open === null && event.try > 1)
          return `at ${seq} rebuild ${event.rebuild} begins with a second try`;
        if (event.try > 1 + Math.max(1, definition.maxRecoveries))
          return `at ${seq} rebuild ${event.rebuild} is begun ${event.try} times`;
        open = { id: event.rebuild, job: event.job, built: false };
        break;
      case "rebuild.finished":
        if (open?.id !== event.rebuild || open.built)
          return `at ${seq} rebuild ${event.rebuild} ends, which is not under way`;
        open = event.ok ? { ...open, built: true } : null;
        break;
      case "workspace.promoted":
        if (open?.id !== event.rebuild || !open.built)
          return `at ${seq} workspace ${event.rebuild} becomes the run's, which is not built`;
        open = null;
        break;
      case "workspace.moved":
        // What was being tried out is left behind; what is only being built is built in the new place.
        if (open?.built) open = null;
        break;
      case "workspace.discarded":
        if (open?.id !== event.rebuild) return `at ${seq} workspace ${event.rebuild} is discarded unopened`;
        open = null;
        break;
      case "attempt.started":
        if (open === null || !book.of(event.job).step.definition.usesWorkspace) break;
        if (!open.built || open.job !== event.job)
          return `at ${seq} ${book.name(event.job)} starts while workspace ${open.id} is open`;
        break;
      case "run.completed":
      case "run.failed":
      case "run.canceled":
        if (open !== null) return `at ${seq} the run ends with workspace ${open.id} open`;
        break;
      default:
        break;
    }
  }
  return null;
}

export function resetsStayWithinTheirBudget(log: Log, definition: Definition): string | null {
  const max = definition.selfHeal?.maxResets ?? 0;
  let resets = 0;
  for (const { seq, event } of log) {
    if (event.type !== "reset.reserved" || event.trigger !== "no_progress") continue;
    resets += 1;
    if (resets > max || event.reset !== resets) return `at ${seq} hard reset ${event.reset}, at most ${max}`;
  }
  return null;
}

/** First tries, retries and hard resets together, in a visit or a round of the queue; rules have bounds of their own. */
export function stepAttemptsAreBounded(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const created = log[0]?.event;
  const retryMax = created?.type === "run.created" ? created.options.retry_max : null;
  const used = new Map<number, number>();
  const visits = new Map<number, number>();
  for (const { seq, event } of log) {
    if (event.type === "attempt.started") {
      if (visits.get(event.job) !== event.visit) used.delete(event.job);
      visits.set(event.job, event.visit);
    }
    if (event.type === "requeue.scheduled") used.delete(event.job);
    const again =
      event.type === "retry.scheduled" ||
      (event.type === "reset.reserved" && event.trigger === "no_progress");
    if (!again) continue;
    used.set(event.job, (used.get(event.job) ?? 0) + 1);
    const max = retryMax ?? book.of(event.job).step.definition.onFail.retry?.max ?? 0;
    if (used.get(event.job)! > max)
      return `at ${seq} ${book.name(event.job)} is tried again ${used.get(event.job)} times, at most ${max}`;
  }
  return null;
}

export function theQueueKeepsItsAttempts(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const requeues = new Map<number, number>();
  for (const { seq, event } of log) {
    if (event.type === "jobs.retried")
      for (const id of [...event.jobs, ...event.reblocked]) requeues.delete(id);
    if (event.type !== "requeue.scheduled") continue;
    const count = (requeues.get(event.job) ?? 0) + 1;
    requeues.set(event.job, count);
    if (count >= (definition.queue?.maxAttempts ?? 1) || event.requeue !== count)
      return `at ${seq} ${book.name(event.job)} is put back for the ${event.requeue}th time`;
  }
  return null;
}

function isRoutedTo({ definition, groups }: GraphStep): boolean {
  return definition.start === "routed" || groups.flat().some(isRoutedTo);
}

interface WayBack {
  readonly members: Set<number>;
  readonly targets: Set<number>;
  keeps: boolean;
}

/**
 * Ordinals count up; what a way back keeps or could not take back is replayed with all the others, in order, and nothing
 * that one has taken back is: what its members made, and after the target's first checkpoint what routed steps made.
 */
export function onlyStandingCheckpointsAreReplayed(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const jobs = new Map<number, number>();
  const standing = new Set<number>();
  const behind = new Map<number, WayBack>();
  const restoring = new Map<number, number>();
  const unrestored = new Set<number>();
  const cutBy = ({ members, targets, keeps }: WayBack): number[] => {
    const firstOf = new Map<number, number>();
    for (const ordinal of standing) {
      const job = jobs.get(ordinal)!;
      if (targets.has(job) && !firstOf.has(job)) firstOf.set(job, ordinal);
    }
    const goes = (ordinal: number): boolean => {
      const job = book.of(jobs.get(ordinal)!);
      if (members.has(job.id)) return true;
      if (!isRoutedTo(job.step)) return false;
      return [...firstOf].some(([target, first]) => {
        const { scope } = book.of(target);
        return ordinal > first && (job.scope === scope || job.scope.startsWith(`${scope}/`));
      });
    };
    return keeps ? [] : [...standing].filter(goes);
  };
  for (const { seq, event } of log) {
    if (event.type === "attempt.succeeded" && event.checkpoint !== null) {
      if (event.checkpoint.ordinal !== jobs.size + 1)
        return `at ${seq} checkpoint ${event.checkpoint.ordinal} is number ${jobs.size + 1}`;
      jobs.set(event.checkpoint.ordinal, event.job);
      standing.add(event.checkpoint.ordinal);
    }
    if (event.type === "barrier.opened") {
      const way = behind.get(event.barrier) ?? { members: new Set(), targets: new Set(), keeps: true };
      for (const id of event.merged) {
        for (const member of behind.get(id)?.members ?? []) way.members.add(member);
        for (const target of behind.get(id)?.targets ?? []) way.targets.add(target);
        way.keeps &&= behind.get(id)?.keeps ?? true;
      }
      for (const id of event.members) way.members.add(id);
      way.targets.add(event.target);
      way.keeps &&= event.files === "keep";
      behind.set(event.barrier, way);
    }
    if (event.type === "rebuild.started" && event.barrier !== null)
      restoring.set(event.rebuild, event.barrier);
    if (event.type === "rebuild.finished" && !event.ok) unrestored.add(restoring.get(event.rebuild) ?? 0);
    if (event.type === "barrier.opened") unrestored.delete(event.barrier);
    if (event.type === "barrier.closed") {
      const wanted = unrestored.has(event.barrier) ? [] : cutBy(behind.get(event.barrier)!);
      behind.delete(event.barrier);
      if (JSON.stringify(wanted) !== JSON.stringify(event.cut ?? []))
        return `at ${seq} the way back cuts off ${event.cut}, not ${wanted}`;
      for (const ordinal of wanted) standing.delete(ordinal);
    }
    if (event.type !== "rebuild.started") continue;
    const way = event.barrier === null ? undefined : behind.get(event.barrier);
    if (way?.keeps) return `at ${seq} rebuild ${event.rebuild} is for a way back that keeps the files`;
    const gone = new Set(way === undefined ? [] : cutBy(way));
    const wanted = [...standing].filter((ordinal) => !gone.has(ordinal));
    if (JSON.stringify(wanted) !== JSON.stringify(event.replay))
      return `at ${seq} rebuild ${event.rebuild} replays ${event.replay}, not ${wanted}`;
  }
  return null;
}
