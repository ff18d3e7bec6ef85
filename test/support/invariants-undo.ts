import type { Definition } from "../../src/core/model/definition.js";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { JobBook } from "./job-book.js";

type Log = readonly LoggedEvent[];

const TERMINAL: ReadonlySet<Event["type"]> = new Set(["run.completed", "run.failed", "run.canceled"]);

/** Exactly what completed and can be undone, the newest completion first. */
export function undoListsWhatCompleted(log: Log, definition: Definition): string | null {
  for (const { event, seq } of log) {
    if (event.type !== "undo.started") continue;
    const expected = completedBefore(log, definition, seq);
    if (expected.join() !== event.jobs.join())
      return `undo at ${seq} lists ${event.jobs.join()} instead of ${expected.join()}`;
  }
  return null;
}

/** A run that fails or is canceled has undone what it did, unless somebody ended that. */
export function aFailedRunIsUndone(log: Log, definition: Definition): string | null {
  for (const { event, seq } of log) {
    if (event.type !== "run.failed" && event.type !== "run.canceled") continue;
    if (isCutShort(log, seq) || completedBefore(log, definition, seq).length === 0) continue;
    const ending = log.findLast((each) => each.event.type === "run.ending" && each.seq < seq)?.event;
    // It completed, and then a finally step failed.
    if (ending?.type === "run.ending" && ending.status === "completed") continue;
    const started = log.find((each) => each.event.type === "undo.started" && each.seq < seq);
    if (started === undefined) return `${event.type} at ${seq} although nothing was undone`;
    const wanted = (started.event as Extract<Event, { type: "undo.started" }>).jobs;
    const left = log.flatMap((each) =>
      each.event.type === "undo.left" && each.seq < seq ? [each.event.of] : [],
    );
    if (left.join() !== wanted.join())
      return `${event.type} at ${seq}: undone ${left.join()} of ${wanted.join()}`;
  }
  return null;
}

/** One visit at a time, each of the job that it is for, and no other step works meanwhile. */
export function undoIsOneAtATime(log: Log, definition: Definition): string | null {
  const book = JobBook.of(log, definition);
  const stepOf = new Map(definition.steps.map((step) => [step.id, step]));
  const last = new Set(definition.finally ?? []);
  let turn: number | null = null;
  let ending = false;
  for (const { event, seq } of log) {
    if (TERMINAL.has(event.type) || event.type === "run.reopened") {
      turn = null;
      ending = false;
    } else if (event.type === "run.ending") ending = true;
    else if (event.type === "undo.entered") {
      if (turn !== null)
        return `${book.name(event.job)} is entered at ${seq} before ${book.name(turn)} is left`;
      const undo = stepOf.get(stepIn(book, event.of))?.undo;
      if (undo !== stepIn(book, event.job))
        return `${book.name(event.job)} at ${seq} undoes ${book.name(event.of)}`;
      turn = event.job;
    } else if (event.type === "undo.left") turn = null;
    else if (event.type === "finally.entered") {
      if (!last.has(stepIn(book, event.job))) return `${book.name(event.job)} at ${seq} is no finally step`;
      turn = event.job;
    } else if (event.type === "attempt.started" && (ending || isAtEnd(definition, stepIn(book, event.job)))) {
      if (!ending || event.job !== turn) return `${book.name(event.job)} starts at ${seq} out of its turn`;
    }
  }
  return null;
}

/** All of them, in the order of the file, each time that the run ends. */
export function finallyAlwaysRuns(log: Log, definition: Definition): string | null {
  const wanted = definition.finally ?? [];
  const book = JobBook.of(log, definition);
  let entered: string[] = [];
  for (const { event, seq } of log) {
    if (event.type === "run.reopened") entered = [];
    if (event.type === "finally.entered") entered.push(stepIn(book, event.job));
    if (!TERMINAL.has(event.type) || isCutShort(log, seq)) continue;
    if (entered.join() !== wanted.join())
      return `${event.type} at ${seq} after the finally steps ${entered.join()}`;
  }
  return null;
}

function stepIn(book: JobBook, job: number): string {
  return book.of(job).step.definition.id;
}

function isAtEnd({ steps, finally: last = [] }: Definition, step: string): boolean {
  return last.includes(step) || steps.some(({ undo }) => undo === step);
}

/** Since the run began or was reopened, somebody wanted it to end at once. */
function isCutShort(log: Log, seq: number): boolean {
  const before = log.filter((each) => each.seq < seq);
  const reopened = before.findLastIndex(({ event }) => event.type === "run.reopened");
  return before
    .slice(reopened + 1)
    .some(({ event }) => event.type === "run.cancel_requested" && event.now === true);
}

function completedBefore(log: Log, definition: Definition, before: number): number[] {
  const book = JobBook.of(log, definition);
  const undoable = new Set(definition.steps.flatMap(({ id, undo }) => (undo === undefined ? [] : [id])));
  const found = new Set<number>();
  for (const { event, seq } of log) {
    if (seq >= before) break;
    const completed =
      event.type === "attempt.succeeded" || (event.type === "hold.resolved" && event.action === "complete");
    if (!completed || !undoable.has(stepIn(book, event.job))) continue;
    found.delete(event.job);
    found.add(event.job);
  }
  return [...found].reverse();
}
