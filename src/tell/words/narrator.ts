import type { Event, LoggedEvent, ReasonKind, RungConsidered } from "../../core/model/events.js";
import { excerptOf } from "../../core/model/excerpt.js";
import type { Failure } from "../../core/model/failure.js";
import type { Run } from "../../core/model/run.js";
import { oneLine } from "../../core/text/plain-text.js";
import { failureText, isSameFailure } from "./attempt-words.js";
import { nameIn } from "./event-words.js";
import { type NewNote, type Note, note } from "./note.js";
import type { CommandText } from "./shell-word.js";
import { wordsOf } from "./words.js";

/** Reasons that only say that a rung is not for this step or this failure. */
const PLAIN: ReadonlySet<ReasonKind | undefined> = new Set([
  "not_configured",
  "does_not_concern",
  "breaker_not_open",
]);

/** Why the rungs that could have acted did not. What holds for several of them is said once. */
function tellingReasons(considered: readonly RungConsidered[]): string[] {
  const told = considered.filter(({ applied, kind }) => !applied && !PLAIN.has(kind));
  return [...new Set(told.map(({ reason }) => reason))];
}

/** How many lines of a failed attempt's output are shown below its line while the run goes on. */
const MAX_LINES = 5;

interface OpenFailure {
  readonly error: Failure;
  considered: readonly RungConsidered[];
}

/**
 * Turns a run's events into lines. A failure and what the ladder does about it are several events; they become one
 * line that says what happened, what was tried and what comes next.
 */
export class Narrator {
  private readonly failures = new Map<number, OpenFailure>();
  /** The last failure of each job that was described in full. */
  private readonly told = new Map<number, Failure>();

  constructor(private readonly type: CommandText = (command) => `daruma ${command}`) {}

  tell(run: Run, { at, event }: LoggedEvent): Note[] {
    const found = this.noteOf(run, event);
    if (found === null) return [];
    const { kind, text, namesRun, printed } = found;
    const isChild = run.parent !== null && namesRun !== true;
    const told = { kind, text: isChild ? `run ${run.id}: ${text}` : text, at };
    return [printed === undefined ? told : { ...told, printed }];
  }

  private noteOf(run: Run, event: Event): NewNote | null {
    switch (event.type) {
      case "attempt.failed":
      case "if.failed":
        this.failures.set(event.job, { error: event.error, considered: [] });
        return null;
      case "ladder.climbed": {
        const failure = this.failures.get(event.job);
        if (failure !== undefined) failure.considered = event.considered;
        return null;
      }
      default:
        return this.answered(run, event) ?? wordsOf(event).note?.(event, run, this.type) ?? null;
    }
  }

  /** The line of a failure that this event answers, or null if there is none. */
  private answered(run: Run, event: Event): NewNote | null {
    const { answer, answerKind } = wordsOf(event);
    const job = jobConcerned(event);
    const failure = job === null ? undefined : this.failures.get(job);
    if (job === null || failure === undefined) return null;
    const next = answer?.(event, run, { failure: failure.error, type: this.type }) ?? null;
    if (next === null) return null;
    this.failures.delete(job);
    const parts = [...tellingReasons(failure.considered), next].join("; ");
    const name = nameIn(run, job);
    const { error } = failure;
    const before = this.toldBefore(job, error);
    const told = note(answerKind ?? "failed", `${name} ${failureText(error, before)} — ${parts}`);
    if (before !== null) return told;
    const lines = excerptOf(error, MAX_LINES)
      .filter(({ beside }) => !beside)
      .map(({ text }) => text);
    const isTold = lines.length === 0 || (lines.length === 1 && told.text.includes(oneLine(lines[0]!)));
    return isTold ? told : { ...told, printed: { name, lines } };
  }

  /** The job's last described failure, if this one is the same. */
  private toldBefore(job: number, error: Failure): Failure | null {
    const before = this.told.get(job);
    const isSame = isSameFailure(error, before) && before.class === error.class;
    if (error.attempt !== null && isSame) return before;
    this.told.set(job, error);
    return null;
  }
}

/** The one job whose failure an event may answer. */
function jobConcerned(event: Event): number | null {
  if (event.type === "jobs.canceled") return event.jobs.length === 1 ? event.jobs[0]! : null;
  return "job" in event ? event.job : null;
}
