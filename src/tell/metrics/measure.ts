import type { Event, HealStrategy } from "../../core/model/events.js";
import { traitsOf } from "../../core/model/failure.js";
import { JOB_IDS_PER_RUN } from "../../core/model/run.js";
import type { Measurement, SeriesName } from "./measurement.js";

/** Which rung of the ladder an attempt follows, and why. */
interface Healing {
  readonly strategy: HealStrategy;
  readonly class: string;
}

/** The part of a job's past that decides how its later events are counted. */
interface JobMemory {
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

type AttemptFailed = Extract<Event, { type: "attempt.failed" }>;
type AttemptStopped = Extract<Event, { type: "attempt.stopped" }>;
type LadderClimbed = Extract<Event, { type: "ladder.climbed" }>;

/** Turns committed events into measurements. It remembers only which jobs have failed, what is tried again, and why. */
export class Meter {
  private readonly jobs = new JobMemories();

  /** Takes in a run's log without counting it, because another process (or this one earlier) has already counted it. */
  recall(runId: number, log: readonly { readonly event: Event }[]): void {
    this.jobs.forgetRun(runId);
    for (const { event } of log) this.measure(runId, event);
  }

  measure(runId: number, event: Event): Measurement[] {
    switch (event.type) {
      case "run.started":
        return [count("daruma.runs_started_total")];
      case "run.completed":
        return this.runEnded(runId, "completed");
      case "run.failed":
        return this.runEnded(runId, "failed");
      case "run.canceled":
        return this.runEnded(runId, "canceled");
      case "attempt.started":
        this.begin(event.job);
        return [];
      case "attempt.succeeded":
        return this.succeeded(event.job, event.duration_ms);
      case "attempt.stopped":
        return this.stopped(event);
      case "attempt.failed":
        return this.failed(event);
      case "retry.scheduled":
        this.heal(event.job, "soft_reset");
        return [];
      case "reset.reserved":
        // Every requeued job gets a fresh workspace. `requeue.scheduled` counts that, so it is not a reset of its own.
        if (event.trigger !== "requeue") this.heal(event.job, "hard_reset");
        return [];
      case "requeue.scheduled":
        this.heal(event.job, "requeue");
        return [];
      case "jobs.retried":
        this.beginAnew(event.jobs);
        return [];
      case "barrier.closed":
        this.beginAnew([...event.invalidated, ...event.retired]);
        return [];
      case "job.dead_lettered":
        return [count("daruma.dead_letters_total")];
      case "ladder.climbed":
        return [count("daruma.rungs_total", { rung: event.rung }), ...this.climbed(event)];
      case "job.held":
        return [count("daruma.holds_total")];
      default:
        return [];
    }
  }

  private heal(job: number, strategy: HealStrategy): void {
    const memory = this.jobs.of(job);
    memory.next = { strategy, class: memory.failedAs ?? "unknown" };
  }

  private begin(job: number): void {
    const memory = this.jobs.find(job);
    if (memory === null) return;
    memory.current = memory.next;
    memory.next = null;
  }

  /** Begins a new visit: what was tried in the last one no longer counts, but the job still counts as failed. */
  private beginAnew(jobs: readonly number[]): void {
    for (const job of jobs) {
      const memory = this.jobs.find(job);
      if (memory === null) continue;
      memory.next = null;
      memory.current = null;
      memory.wasTriedAgain = false;
    }
  }

  private climbed({ job, rung }: LadderClimbed): Measurement[] {
    const memory = this.jobs.find(job);
    if (memory === null) return [];
    const { isLost } = memory;
    memory.isLost = false;
    if (rung === "restart" || rung === "park") return this.sameAgain(memory);
    if (isLost) memory.failedAs = "infrastructure";
    const lost = this.endOfHealing(memory, "failed");
    if (rung !== "fail" && rung !== "hold") return lost;
    const { wasTriedAgain } = memory;
    memory.next = null;
    memory.wasTriedAgain = false;
    return wasTriedAgain ? [...lost, count("task.self_heal.exhausted_total")] : lost;
  }

  private succeeded(job: number, durationMs: number): Measurement[] {
    const found = attempt("succeeded", null, durationMs);
    const memory = this.jobs.find(job);
    if (memory === null) return found;
    found.push(...this.endOfHealing(memory, "succeeded"));
    if (memory.failedAs !== null) found.push(count("task.self_heal.recovered_total"));
    this.jobs.forget(job);
    return found;
  }

  private stopped({ job, because, duration_ms: durationMs }: AttemptStopped): Measurement[] {
    const found = attempt("stopped", null, durationMs);
    const memory = this.jobs.find(job);
    if (memory === null) return found;
    found.push(
      ...(because === "interrupted" ? this.sameAgain(memory) : this.endOfHealing(memory, "stopped")),
    );
    return found;
  }

  private failed({
    job,
    error,
    no_progress: noProgress,
    breakers,
    duration_ms: durationMs,
  }: AttemptFailed): Measurement[] {
    const memory = this.jobs.of(job);
    const found = attempt("failed", error.class, durationMs);
    // An attempt that waits for a breaker is repeated, like a lost one.
    memory.isLost = traitsOf(error.class).lost || breakers !== undefined;
    if (!memory.isLost) {
      memory.failedAs = error.class;
      found.push(...this.endOfHealing(memory, "failed"));
    }
    if (error.code === "IDLE_TIMEOUT") found.push(count("task.step.idle_timeout_total"));
    else if (error.code === "TIMEOUT") found.push(count("task.step.wall_timeout_total"));
    if (noProgress !== null) found.push(count("task.step.no_progress_total"));
    return found;
  }

  /** Carries the healing over to the repetition of a lost or interrupted attempt, whose outcome is then counted. */
  private sameAgain(memory: JobMemory): Measurement[] {
    memory.next ??= memory.current;
    memory.current = null;
    return [];
  }

  private endOfHealing(memory: JobMemory, outcome: "succeeded" | "failed" | "stopped"): Measurement[] {
    const { current } = memory;
    memory.current = null;
    if (current === null) return [];
    if (outcome === "failed") memory.wasTriedAgain = true;
    return [count("task.self_heal.attempts_total", { ...current, outcome })];
  }

  private runEnded(runId: number, status: string): Measurement[] {
    // A process that opens the run again loads its log and calls `recall`.
    this.jobs.forgetRun(runId);
    return [count("daruma.runs_total", { status })];
  }
}

function attempt(outcome: string, failureClass: string | null, durationMs: number): Measurement[] {
  return [
    { name: "task.step.duration_seconds", value: durationMs / 1000, labels: { outcome } },
    count("daruma.attempts_total", { outcome, class: failureClass ?? "none" }),
  ];
}

function count(name: SeriesName, labels: { readonly [label: string]: string } = {}): Measurement {
  return { name, value: 1, labels };
}
