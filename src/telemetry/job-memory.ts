import type { HealStrategy } from "../core/model/events.js";
import { JOB_IDS_PER_RUN } from "../core/model/run.js";

/** What an attempt follows, and why. */
export interface Healing {
  readonly strategy: HealStrategy;
  readonly class: string;
}

/** The part of a job's past that decides how its later events are counted. */
export interface JobMemory {
  /** The class of its last failure, until it completes; whatever has become of it since. */
  failedAs: string | null;
  /** What the next attempt follows. */
  next: Healing | null;
  /** What the attempt under way follows, or one whose loss the ladder has not answered yet. */
  current: Healing | null;
  /** Its last attempt was lost, and the ladder has not answered that yet. */
  isLost: boolean;
  /** An attempt that followed a failure of this visit has failed too. */
  wasTriedAgain: boolean;
}

/** Jobs that are remembered at once; beyond that the jobs of the run that came first are forgotten. */
const MAX_REMEMBERED_JOBS = 100_000;

/** Jobs of runs that are not over, by run. */
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
