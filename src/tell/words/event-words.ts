import type { EventOf, EventType } from "../../core/model/events.js";
import type { Failure } from "../../core/model/failure.js";
import { jobById, type Run } from "../../core/model/run.js";
import { oneLine } from "../../core/text/plain-text.js";
import { jobName } from "../lookup/job-name.js";
import type { NewNote, NoteKind } from "./note.js";
import type { PatchLines } from "./patch-lines.js";
import type { Sentence } from "./sentence.js";
import type { CommandText } from "./shell-word.js";

/** Sentences of the story of one job. */
export interface Told {
  readonly job: number;
  readonly sentences: readonly Sentence[];
  /** Somebody or some failure has steered the job: it is worth telling even if it never failed. */
  readonly steered?: true;
}

/** What the story has mentioned before an event. */
export interface StorySoFar {
  /** The job whose failure the next cascade follows from. */
  readonly lastFailed: number | null;
  /** The failure of the last failed attempt. */
  lastErrorOf(job: number): Failure | null;
  isTold(job: number): boolean;
  /** The lines that a patch of the run changes; null where nobody can read it here. */
  linesOf(patch: string): PatchLines | null;
  /** What has opened a barrier; null in logs that do not say. */
  jumpOf(barrier: number): Jump | null;
}

/** What makes steps begin again from one of them on. */
export type Jump = EventOf<"goto.taken" | "edge.taken" | "operator.goto">;

/** What an answer is made from beside its event. */
export interface Answered {
  readonly failure: Failure;
  readonly type: CommandText;
}

/** Everything that is said about one type of event. `run` is the run just after the event. */
export interface EventWords<type extends EventType> {
  /** While the run goes on: a line of its own. */
  readonly note?: (event: EventOf<type>, run: Run, type: CommandText) => NewNote | null;
  /** While the run goes on: what becomes of a failure of its job, as the end of the line that tells the failure. */
  readonly answer?: (event: EventOf<type>, run: Run, answered: Answered) => string | null;
  /** What a line with the answer is; by default that of a failure. */
  readonly answerKind?: NoteKind;
  /** Afterwards: what it was to the jobs concerned. */
  readonly story?: (event: EventOf<type>, run: Run, before: StorySoFar) => readonly Told[];
  /** Afterwards: what it was to the run as a whole; `when` is like "after 2.5 s", and the run is as its log left it. */
  readonly runStory?: (event: EventOf<type>, when: string, run: Run) => string;
  /** With --debug: lines below the note. True prints the fields of the event. */
  readonly debug?: true | ((event: EventOf<type>, run: Run) => readonly string[]);
}

/** The words of some events. */
export type WordsOf<types extends EventType> = { readonly [type in types]: EventWords<type> };

/** Limit for a live line, which has more room than a line of the story. */
const MAX_SHORT_CHARS = 300;
const MAX_QUOTE_CHARS = 160;

export function short(message: string): string {
  return oneLine(message, MAX_SHORT_CHARS);
}

export function quote(text: string): string {
  return oneLine(text, MAX_QUOTE_CHARS);
}

/** The reason that somebody gave, as ` ("lunch")`; nothing where none was given. */
export function because(reason: string): string {
  return reason === "" ? "" : ` ("${quote(reason)}")`;
}

export function nameIn(run: Run, id: number): string {
  return jobName(jobById(run, id));
}

export function told(job: number, ...sentences: readonly Sentence[]): Told[] {
  return [{ job, sentences }];
}

export function steered(job: number, ...sentences: readonly Sentence[]): Told[] {
  return [{ job, sentences, steered: true }];
}
