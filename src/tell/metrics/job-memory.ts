import type { HealStrategy } from "../../core/model/events.js";
import { JOB_IDS_PER_RUN } from "../../core/model/run.js";

/** Which rung of the ladder an attempt follows, and why. */
export interface Healing {
  readonly strategy: HealStrategy;
  readonly class: string;
}

/** The part of a job's past that decides how its later events are counted. */
export interface JobMemory {
  /** The class of the job's last failure. It stays until the job completes, however the ladder answered. */
  failedAs: string | null;
  /** The healing that the next attempt follows. */
  next: Healing | null;
  /** The healing that the running attempt follows, or a lost one that the ladder has not answered yet. */
  current: Healing | null;
  /** The last attempt was lost, and the ladder has not answered that yet. */
  isLost: boolean;
  /** An attempt after a failure in this visit has failed, too. */
  wasTriedAgain: boolean;
}

/** How many jobs are remembered. Beyond that the oldest run's jobs are forgotten. */
const MAX_REMEMBERED_JOBS = 100_000;

/** Memories of jobs by run, for runs that are not over. */
export class JobMemories {
  private readonly runs = new Map<number, Map<number, JobMemory>>();
  private count = 0;

  constructor(private readonly most = MAX_REMEMBERED_JOBS) {}

  of(job: number): JobMemory {
    const known = this.find(job);
    if (known !== null) return known;
    const runId = runOf(job);
    const jobs = this.runs.get(runId) ?? new Map<number, JobMemory>();
    this.runs.set(runId, jobs);
    const memory: JobMemory = {
      failedAs: null,
      next: null,
      current: null,
      isLost: false,
      wasTriedAgain: false,
    };
    jobs.set(job, memory);
    this.count += 1;
    if (this.count > this.most && this.runs.size > 1) this.forgetRun(this.runs.keys().next().value!);
    return memory;
  }

  find(job: number): JobMemory | null {
    return this.runs.get(runOf(job))?.get(job) ?? null;
  }

  forget(job: number): void {
    if (this.runs.get(runOf(job))?.delete(job)) this.count -= 1;
  }

  forgetRun(runId: number): void {
    this.count -= this.runs.get(runId)?.size ?? 0;
    this.runs.delete(runId);
  }
}

function runOf(job: number): number {
  return Math.floor(job / JOB_IDS_PER_RUN);
}
