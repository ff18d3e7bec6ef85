import type { Definition } from "../../core/model/definition.js";
import type { Event, LoggedEvent } from "../../core/model/events.js";
import type { Failure } from "../../core/model/failure.js";
import { type Job, jobById, type Run } from "../../core/model/run.js";
import { ReplayedRun } from "../lookup/replayed-log.js";
import type { Jump, StorySoFar } from "./event-words.js";
import type { Sentence } from "./sentence.js";
import { wordsOf } from "./words.js";

/** What happened to one job, in sentences, oldest first. */
export interface JobStory {
  readonly job: Job;
  readonly sentences: Sentence[];
  /** Failed attempts, and failures without one. */
  failures: number;
  /** Somebody or some failure has steered it. */
  steered: boolean;
  /** Of the attempt that failed last. */
  lastError: Failure | null;
}

/** What a run is told from. */
export interface RecordedRun {
  readonly runId: number;
  readonly definition: Definition;
  readonly log: readonly LoggedEvent[];
}

/** The run at the end of its log, and a story for each job that the log speaks of, in the order of their first events. */
export function tellStories({ runId, definition, log }: RecordedRun): { run: Run; stories: JobStory[] } {
  const replay = new ReplayedRun(runId, () => definition);
  const teller = new StoryTeller();
  for (const logged of log) teller.take(replay.fold(logged), logged.event);
  return { run: replay.now, stories: [...teller.stories.values()] };
}

class StoryTeller implements StorySoFar {
  readonly stories = new Map<number, JobStory>();
  lastFailed: number | null = null;
  forkedFrom = 0;
  private lastJump: Jump | null = null;
  private readonly jumps = new Map<number, Jump | null>();

  /** `run` is the run just after the event. */
  take(run: Run, event: Event): void {
    this.remember(event);
    for (const { job, sentences, steered } of wordsOf(event).story?.(event, run, this) ?? []) {
      if (sentences.length === 0) continue;
      const story = this.storyOf(run, job);
      story.sentences.push(...sentences);
      if (steered === true) story.steered = true;
    }
    if (event.type === "attempt.failed" || event.type === "if.failed" || event.type === "job.failed")
      this.count(this.storyOf(run, event.job), event);
  }

  private remember(event: Event): void {
    if (event.type === "run.forked") this.forkedFrom = event.from;
    if (event.type === "goto.taken" || event.type === "edge.taken" || event.type === "operator.goto")
      this.lastJump = event;
    if (event.type === "barrier.opened") this.jumps.set(event.barrier, this.lastJump);
  }

  jumpOf(barrier: number): Jump | null {
    return this.jumps.get(barrier) ?? null;
  }

  lastErrorOf(job: number): Failure | null {
    return this.stories.get(job)?.lastError ?? null;
  }

  isTold(job: number): boolean {
    return this.stories.has(job);
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
    if (story === undefined) {
      story = { job: jobById(run, id), sentences: [], failures: 0, steered: false, lastError: null };
      this.stories.set(id, story);
    }
    return story;
  }
}
