import type { Definition } from "../../core/model/definition.js";
import type { Event, EventOf, LoggedEvent } from "../../core/model/events.js";
import type { Failure } from "../../core/model/failure.js";
import { type Job, jobById, type Run } from "../../core/model/run.js";
import { ReplayedRun } from "../lookup/replayed-log.js";
import { isAgentsWork } from "./attempt-words.js";
import type { Jump, StorySoFar, Told } from "./event-words.js";
import { linesIn, type PatchLines } from "./patch-lines.js";
import type { Sentence } from "./sentence.js";
import { wordsOf } from "./words.js";

/** What happened to one job, in sentences, oldest first. */
export interface JobStory {
  readonly job: Job;
  /** The position of its first event in the run. Stories are sorted by it. */
  readonly place: number;
  readonly sentences: Sentence[];
  /** Failed attempts, and failures without one. */
  failures: number;
  /** Somebody or some failure has steered it. */
  steered: boolean;
  /** The failure of the last failed attempt. */
  lastError: Failure | null;
}

/** The source of a run's story. */
export interface RecordedRun {
  readonly runId: number;
  readonly definition: Definition;
  readonly log: readonly LoggedEvent[];
}

/** The run just after an event, and what the event was to its jobs. */
export interface Heard {
  readonly run: Run;
  readonly told: readonly Told[];
}

/** What a log says, once it was heard to its end. */
export interface RunStory {
  /** The run as its log left it. */
  readonly run: Run;
  /** Stories of jobs to which more happened than one completed attempt, in the order of their first events. */
  readonly stories: readonly JobStory[];
  /** Events about the run as a whole. */
  readonly runEvents: readonly LoggedEvent[];
  /** Null if the log does not mention the job. */
  storyOf(job: Job): JobStory | null;
}

export function readStories({ runId, definition, log }: RecordedRun): RunStory {
  const teller = new RunStoryReader(runId, definition);
  for (const logged of log) teller.hear(logged);
  return teller.told();
}

/** Hears a log event by event, so that nobody need have it all in memory, and folds it once. */
export class RunStoryReader {
  private readonly replay: ReplayedRun;
  private readonly teller: JobStoryReader;
  private readonly runEvents: LoggedEvent[] = [];

  /** `readPatch`: the text of a patch of the run; null where it is not here. */
  constructor(
    runId: number,
    definition: Definition,
    readPatch: (patch: string) => string | null = () => null,
  ) {
    this.teller = new JobStoryReader(readPatch);
    this.replay = new ReplayedRun(runId, () => definition);
  }

  hear(logged: LoggedEvent): Heard {
    const run = this.replay.fold(logged);
    const told = this.teller.take(run, logged.event);
    if (wordsOf(logged.event).runStory !== undefined) this.runEvents.push(logged);
    return { run, told };
  }

  told(): RunStory {
    const { replay, teller, runEvents } = this;
    const run = replay.now;
    const stories = [...teller.stories.values()].sort((first, second) => first.place - second.place);
    return { run, stories, runEvents, storyOf: ({ id }) => teller.find(run, id) };
  }
}

class JobStoryReader implements StorySoFar {
  readonly stories = new Map<number, JobStory>();
  /**
   * Jobs of which nothing is known but that an attempt completed. In a large run nearly all are; they get a story when
   * there is more to say, or somebody asks.
   */
  private readonly uneventful = new Map<number, { readonly event: Event; readonly place: number }>();
  private heard = 0;
  lastFailed: number | null = null;
  private lastJump: Jump | null = null;
  private readonly jumps = new Map<number, Jump | null>();

  constructor(private readonly readPatch: (patch: string) => string | null) {}

  /** `run` is the run just after the event. */
  take(run: Run, event: Event): readonly Told[] {
    this.heard += 1;
    if (event.type === "attempt.succeeded" && !this.isTold(event.job) && !this.changes(run, event)) {
      this.uneventful.set(event.job, { event, place: this.heard });
      return [];
    }
    this.remember(event);
    const told = wordsOf(event).story?.(event, run, this) ?? [];
    for (const { job, sentences, steered } of told) {
      if (sentences.length === 0) continue;
      const story = this.storyOf(run, job);
      story.sentences.push(...sentences);
      if (steered === true) story.steered = true;
    }
    if (event.type === "attempt.failed" || event.type === "if.failed" || event.type === "job.failed")
      this.count(this.storyOf(run, event.job), event);
    return told;
  }

  /** What an agent has changed is worth telling even if nothing failed. */
  private changes(run: Run, { job, checkpoint }: EventOf<"attempt.succeeded">): boolean {
    return checkpoint !== null && checkpoint.changed_files.length > 0 && isAgentsWork(jobById(run, job));
  }

  private remember(event: Event): void {
    if (event.type === "goto.taken" || event.type === "edge.taken" || event.type === "operator.goto")
      this.lastJump = event;
    if (event.type === "barrier.opened") this.jumps.set(event.barrier, this.lastJump);
    // With several, it is unknown which one caused the others.
    if (event.type === "routes.settled" && event.unhandled.length > 0)
      this.lastFailed = event.unhandled.length === 1 ? event.unhandled[0]! : null;
  }

  jumpOf(barrier: number): Jump | null {
    return this.jumps.get(barrier) ?? null;
  }

  linesOf(patch: string): PatchLines | null {
    const text = this.readPatch(patch);
    return text === null ? null : linesIn(text);
  }

  lastErrorOf(job: number): Failure | null {
    return this.stories.get(job)?.lastError ?? null;
  }

  isTold(job: number): boolean {
    return this.stories.has(job) || this.uneventful.has(job);
  }

  find(run: Run, job: number): JobStory | null {
    return this.isTold(job) ? this.storyOf(run, job) : null;
  }

  /** A job may fail without a failed attempt, for want of a repair. */
  private count(
    story: JobStory,
    event: Extract<Event, { type: "attempt.failed" | "if.failed" | "job.failed" }>,
  ): void {
    if (event.type !== "job.failed" || story.failures === 0) story.failures += 1;
    if (event.type !== "job.failed") story.lastError = event.error;
    this.lastFailed = event.job;
  }

  private storyOf(run: Run, id: number): JobStory {
    let story = this.stories.get(id);
    if (story !== undefined) return story;
    const before = this.uneventful.get(id);
    const told = before === undefined ? [] : (wordsOf(before.event).story?.(before.event, run, this) ?? []);
    this.uneventful.delete(id);
    story = {
      job: jobById(run, id),
      place: before?.place ?? this.heard,
      sentences: told.flatMap(({ sentences }) => sentences),
      failures: 0,
      steered: false,
      lastError: null,
    };
    this.stories.set(id, story);
    return story;
  }
}
