import { jobRow } from "../../src/core/evolve/projections.js";
import type { Definition } from "../../src/core/model/definition.js";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { resolve } from "../../src/core/model/gate.js";
import { type Job, type Run, type Scope, scopesUnder } from "../../src/core/model/run.js";
import { foldOf } from "./fold-of.js";
import { JobBook } from "./job-book.js";

type Log = readonly LoggedEvent[];

interface Taken {
  readonly seq: number;
  readonly event: Extract<Event, { type: "edge.taken" }>;
}

/** A step that was to run and did not, in a run that is completed, is told with a failure that may do that. */
export function aCompletedRunSkipsOnlyWhereItMay(log: Log, definition: Definition): string | null {
  if (log.at(-1)?.event.type !== "run.completed") return null;
  const book = JobBook.of(log, definition);
  const run = foldOf(log, definition);
  const notNeeded = skippedForOthers(log);
  for (const job of run.jobs) {
    if (job.status !== "skipped" || !job.scope.open || !notNeeded.has(job.id)) continue;
    const failures = failuresBefore(job, notNeeded);
    if (failures.length === 0) continue;
    const named = jobRow(run, job).skipped_by;
    // Another that it needs was not to run: it would have been skipped anyhow.
    if (named === null && isLostOtherwise(job, notNeeded)) continue;
    if (!failures.some(({ id }) => id === named))
      return `${book.name(job.id)} is skipped and does not say why`;
    const wrong = failures.find((failed) => !maySkip(log, run, failed));
    if (wrong !== undefined)
      return `${book.name(job.id)} is skipped for ${book.name(wrong.id)}, and nothing says that it may be`;
  }
  return null;
}

/** By what is said of the last time: not for an `if` of its own, and not because nobody routed there. */
function skippedForOthers(log: Log): ReadonlySet<number> {
  const found = new Set<number>();
  for (const { event } of log) {
    if (event.type !== "jobs.skipped") continue;
    const isForOthers = event.because === "dependency" || event.because === "join";
    for (const job of event.jobs) found[isForOthers ? "add" : "delete"](job);
  }
  return found;
}

/** The failed jobs for which it was not needed any more. */
function failuresBefore(job: Job, notNeeded: ReadonlySet<number>): Job[] {
  const seen = new Set<Job>([job]);
  for (const at of seen) {
    if (at.status === "failed") continue;
    for (const before of dependenciesOf(at))
      if (before.settledAs === "lost" && (before.status === "failed" || notNeeded.has(before.id)))
        seen.add(before);
  }
  return [...seen].filter(({ status }) => status === "failed");
}

function isLostOtherwise(job: Job, notNeeded: ReadonlySet<number>): boolean {
  return dependenciesOf(job).some(
    (before) =>
      before.status === "skipped" && (!notNeeded.has(before.id) || isLostOtherwise(before, notNeeded)),
  );
}

/** Of a group that has a completed member no other counts. */
function dependenciesOf({ step, scope }: Job): Job[] {
  const opener = step.closes === null ? undefined : scope.jobs.get(step.closes);
  const inItems: Scope[] = (step.closes === null ? [] : (scope.children.get(step.closes) ?? []))
    .filter(({ open }) => open)
    .flatMap((item) => [...scopesUnder(item)]);
  const groups = step.groups.flatMap((members) =>
    [scope, ...inItems].map((at) => members.flatMap((member) => resolve(member, at) ?? [])),
  );
  const lost = groups.filter((jobs) => jobs.every(({ settledAs }) => settledAs === "lost")).flat();
  return opener === undefined ? lost : [opener, ...lost];
}

function maySkip(log: Log, run: Run, failed: Job): boolean {
  if (failed.handled !== null || failed.partOf !== null) return true;
  const edges = edgesFrom(log, failed.id, 0, new Set());
  if (edges.some(({ event }) => event.then === "skip")) return true;
  // It was led to a step whose own failure counts for nothing: there is no output to go on with. Whatever that step did in
  // later visits, the way of the failure ended there.
  return edges.some(
    ({ event: { target }, seq }) =>
      run.jobs.some(({ id, handled }) => id === target && handled !== null) || endsHandled(log, target, seq),
  );
}

/** The next time that the job fails for good, its failure counts for nothing. */
function endsHandled(log: Log, job: number, after: number): boolean {
  const end = log.find(({ seq, event }) => seq > after && event.type === "job.failed" && event.job === job);
  return end?.event.type === "job.failed" && end.event.handled !== null;
}

/** The edges that a failure may have taken, and those of the steps that it led to. */
function edgesFrom(log: Log, job: number, after: number, seen: Set<number>): Taken[] {
  return log.flatMap(({ seq, event }) => {
    if (seq <= after || seen.has(seq)) return [];
    if (event.type !== "edge.taken" || event.on !== "failure" || event.job !== job) return [];
    seen.add(seq);
    return [{ seq, event }, ...edgesFrom(log, event.target, seq, seen)];
  });
}

/** What `then: fail` said of the last visit holds, unless a join tolerates the branch. */
export function aRunWithAFailureForGoodNeverCompletes(log: Log, definition: Definition): string | null {
  if (log.at(-1)?.event.type !== "run.completed") return null;
  const book = JobBook.of(log, definition);
  const { failed } = foldOf(log, definition);
  for (const job of failed) {
    if (job.handled !== null || !job.scope.open) continue;
    const last = log.findLast(({ event }) => event.type === "job.failed" && event.job === job.id);
    const edge = log.findLast(
      ({ event, seq }) => event.type === "edge.taken" && event.job === job.id && seq > (last?.seq ?? 0),
    );
    if (edge?.event.type === "edge.taken" && edge.event.then === "fail")
      return `the run is completed though the failure of ${book.name(job.id)} was to fail it`;
  }
  return null;
}

/** Nothing stands in for a failed job but a step that its failure has led to, all the way by edges that say so. */
export function aStandInWasRoutedToAndCompleted(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  for (const { event, seq } of log) {
    if (event.type !== "job.stood_in") continue;
    const before = log.slice(0, seq - 1);
    const taken = before.findLast((each) => each.event.type === "edge.taken" && each.event.job === event.job);
    if (taken?.event.type !== "edge.taken" || taken.event.then !== "continue")
      return `at ${seq} ${book.name(event.by)} stands in for ${book.name(event.job)}, whose edge does not say so`;
    const isDone = before.some(
      (each) =>
        each.seq > taken.seq &&
        ((each.event.type === "attempt.succeeded" && each.event.job === event.by) ||
          (each.event.type === "hold.resolved" &&
            each.event.job === event.by &&
            each.event.action === "complete")),
    );
    if (!isDone)
      return `at ${seq} ${book.name(event.by)} stands in for ${book.name(event.job)}, and has not completed`;
  }
  return null;
}
