import type { BookAction, BookRow, MetFailure, OpenFailures } from "../book/book.js";
import type { Event, RetriedBy } from "../model/events.js";
import { brokeOf, lastWordsOf } from "../model/excerpt.js";
import type { Failure } from "../model/failure.js";
import { isHandled } from "../model/handled.js";
import { type Job, jobById, type Run, routedAttempt } from "../model/run.js";
import { stepPlace, writtenStep } from "../model/written-step.js";
import { firstChars } from "../text/head-tail.js";
import { oneLine } from "../text/plain-text.js";

const MAX_SAMPLE_CHARS = 240;
/** Limit for a message or an output. A line needs no more. */
const MAX_READ_CHARS = 1_000;

const DECISIONS: { readonly [action in Exclude<RetriedBy, "resolve">]: BookAction } = {
  retry_step: "operator.retry",
  hard_reset_step: "operator.hard_reset",
  redrive: "operator.redrive",
  reset: "operator.reset",
  recover: "operator.recover",
};

/**
 * What the failure book learns from an event, before it is folded in. A failure counts once a rung other than stop has
 * acted on it; when its job ends, what acted last on each failure it met is credited, and all else was tried.
 */
export function noteInBook(run: Run, event: Event, at: number): void {
  // It happened elsewhere.
  if (run.options.imported === true) return;
  switch (event.type) {
    case "run.started":
    case "run.reopened":
      run.book.begunAt = at;
      return;
    case "attempt.failed":
    case "if.failed":
      return awaitRung(run, jobById(run, event.job), at);
    case "ladder.climbed":
      return countFailure(run, jobById(run, event.job), event.rung, at);
    case "hold.resolved":
      return noteDecision(run, event, at);
    case "jobs.retried":
      // A resolved hold has been noted already.
      if (event.action === "resolve") return;
      run.book.begunAt = at;
      for (const id of event.jobs) actOn(run, jobById(run, id), DECISIONS[event.action], at);
      return;
    case "operator.goto":
      run.book.begunAt = at;
      for (const id of event.jobs ?? []) actOn(run, jobById(run, id), "operator.resume_from", at);
      return;
    case "attempt.succeeded":
      return endJob(run, jobById(run, event.job), true, at);
    case "run.completed":
    case "run.failed":
    case "run.canceled":
      for (const id of [...run.book.open.keys()]) endJob(run, jobById(run, id), endedWell(run, id), at);
      return;
  }
}

function endedWell(run: Run, id: number): boolean {
  const job = jobById(run, id);
  return job.status === "completed" || (job.status === "failed" && isHandled(job));
}

function awaitRung(run: Run, job: Job, at: number): void {
  openFailuresOf(run, job, job.attemptStartedAt ?? at).uncounted = true;
}

function openFailuresOf({ book }: Run, job: Job, since: number): OpenFailures {
  let open = book.open.get(job.id);
  if (open === undefined) {
    open = { since, uncounted: false, met: new Map() };
    book.open.set(job.id, open);
  }
  return open;
}

/** A climb that goes on because a rung could not act after all is no second failure. */
function countFailure(run: Run, job: Job, rung: string, at: number): void {
  const { error } = job;
  const open = run.book.open.get(job.id);
  if (open === undefined || error === null) return;
  const isCounted = !open.uncounted;
  open.uncounted = false;
  if (rung === "stop") {
    if (open.met.size === 0) run.book.open.delete(job.id);
    return;
  }
  if (isCounted) return replaceAction(open, error, rung);
  const mark = `${writtenStep(stepPlace(job))} ${error.signature}`;
  const isFirst = !run.book.met.has(mark);
  run.book.met.add(mark);
  addAction(open, job, error, rung);
  addRow(run, job, error.signature, at, {
    kind: "met",
    attempt: routedAttempt(job),
    action: rung,
    tried: [],
    first_in_run: isFirst,
    flake_ms: null,
    code: error.code,
    class: error.class,
    sample: sampleOf(error),
  });
}

/** A person's decision stands in the place of the hold that asked for it, and so does what was done without one. */
function noteDecision(run: Run, event: Extract<Event, { type: "hold.resolved" }>, at: number): void {
  const job = jobById(run, event.job);
  if (event.action === "retry" && !event.expired) run.book.begunAt = at;
  actOn(run, job, `${event.expired ? "expired" : "operator"}.${event.action}`, at);
  if (event.action === "complete" || event.action === "skip") endJob(run, job, true, at);
}

function actOn(run: Run, job: Job, action: BookAction, at: number): void {
  if (job.error === null) return;
  const open = openFailuresOf(run, job, job.attemptStartedAt ?? at);
  const last = open.met.get(job.error.signature)?.actions.at(-1);
  if (last === "hold") replaceAction(open, job.error, action);
  else addAction(open, job, job.error, action);
}

function addAction(open: OpenFailures, job: Job, error: Failure, action: BookAction): void {
  const before = open.met.get(error.signature)?.actions ?? [];
  const actions = [...before.filter((each) => each !== action), action];
  const { code, class: failureClass } = error;
  open.met.set(error.signature, { code, class: failureClass, attempt: routedAttempt(job), actions });
}

function replaceAction(open: OpenFailures, { signature }: Failure, action: BookAction): void {
  const met = open.met.get(signature);
  if (met === undefined) return;
  const others = met.actions.slice(0, -1).filter((each) => each !== action);
  open.met.set(signature, { ...met, actions: [...others, action] });
}

function endJob(run: Run, job: Job, isRescued: boolean, at: number): void {
  const open = run.book.open.get(job.id);
  if (open === undefined) return;
  run.book.open.delete(job.id);
  let flakeMs =
    isRescued && passedByRetryAlone(open) ? Math.max(0, (job.attemptStartedAt ?? at) - open.since) : null;
  for (const [signature, { code, class: failureClass, attempt, actions }] of open.met) {
    addRow(run, job, signature, at, {
      kind: "ended",
      attempt,
      action: isRescued ? (actions.at(-1) ?? null) : null,
      tried: isRescued ? actions.slice(0, -1) : actions,
      first_in_run: false,
      flake_ms: flakeMs,
      code,
      class: failureClass,
      sample: "",
    });
    flakeMs = null;
  }
}

function passedByRetryAlone({ met }: OpenFailures): boolean {
  const actions = [...met.values()].flatMap((each: MetFailure) => each.actions);
  // A lost worker is not the step's doing.
  return actions.includes("retry") && actions.every((each) => each === "retry" || each === "restart");
}

type RowRest = Omit<
  BookRow,
  "run_id" | "n" | "at" | "workflow" | "step" | "signature" | "job_id" | "begun_at"
>;

function addRow(run: Run, job: Job, signature: string, at: number, rest: RowRest): void {
  const { book } = run;
  book.rows += 1;
  book.unwritten.push({
    run_id: run.id,
    n: book.rows,
    at,
    workflow: run.workflow,
    step: writtenStep(stepPlace(job)),
    signature,
    job_id: job.id,
    begun_at: book.begunAt,
    ...rest,
  });
}

/** The line of a failure in a list. If the step has not said what broke, the last words that it printed follow. */
function sampleOf(failure: Failure): string {
  const broke = oneLine(brokeOf(failure).slice(0, MAX_READ_CHARS));
  const line = failure.class === "resource" ? null : lastWordsOf(failure);
  return firstChars(line === null ? broke : `${broke}: ${oneLine(line.text)}`, MAX_SAMPLE_CHARS);
}
