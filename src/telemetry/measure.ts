import type { Event, HealStrategy } from "../core/events.js";
import type { Measurement, SeriesName } from "./measurement.js";

type AttemptFailed = Extract<Event, { type: "attempt.failed" }>;

interface Healing {
  readonly strategy: HealStrategy;
  readonly class: string;
}

/** Jobs under repair that are remembered at once; beyond it the oldest is forgotten and counts as never repaired. */
const MAX_REMEMBERED_JOBS = 100_000;

/** Turns committed events into measurements. It remembers only which jobs are being tried again, and why. */
export class Meter {
  private readonly healing = new Map<number, Healing>();
  private readonly failedAs = new Map<number, string>();
  /** Jobs with at least one failed attempt that followed a failure. */
  private readonly tried = new Set<number>();

  measure(event: Event): Measurement[] {
    switch (event.type) {
      case "run.started":
        return [count("daruma.runs_started_total")];
      case "run.completed":
        return [count("daruma.runs_total", { status: "completed" })];
      case "run.failed":
        return [count("daruma.runs_total", { status: "failed" })];
      case "run.canceled":
        return [count("daruma.runs_total", { status: "canceled" })];
      case "attempt.succeeded":
        return this.ended(event.job, "succeeded", event.durationMs);
      case "attempt.stopped":
        // A hard reset by hand ends the attempt before the one that it begins.
        if (event.because === "reset") return attempt("stopped", null, event.durationMs);
        return this.ended(event.job, "stopped", event.durationMs);
      case "attempt.failed":
        return this.failed(event);
      case "retry.scheduled":
        this.heal(event.job, "soft_reset");
        return [];
      case "reset.reserved":
        // What leaves the queue gets a fresh workspace as a matter of course.
        if (event.trigger !== "requeue") this.heal(event.job, "hard_reset");
        return [];
      case "requeue.scheduled":
        this.heal(event.job, "requeue");
        return [];
      case "job.dead_lettered":
        return [count("daruma.dead_letters_total")];
      case "ladder.climbed":
        return [count("daruma.rungs_total", { rung: event.rung }), ...this.climbed(event.job, event.rung)];
      case "job.held":
        return [count("daruma.holds_total")];
      default:
        return [];
    }
  }

  private heal(job: number, strategy: HealStrategy): void {
    remember(this.healing, job, { strategy, class: this.failedAs.get(job) ?? "unknown" });
  }

  private climbed(job: number, rung: string): Measurement[] {
    if (rung !== "fail" && rung !== "hold") return [];
    const wasTriedAgain = this.tried.delete(job);
    this.failedAs.delete(job);
    this.healing.delete(job);
    return wasTriedAgain ? [count("task.self_heal.exhausted_total")] : [];
  }

  private ended(job: number, outcome: "succeeded" | "stopped", durationMs: number): Measurement[] {
    const healing = this.healing.get(job);
    this.forget(job);
    const repaired: Measurement[] =
      healing === undefined
        ? []
        : [count("task.self_heal.attempts_total", { ...healing, outcome }), ...recovered(outcome)];
    return [...attempt(outcome, null, durationMs), ...repaired];
  }

  private failed({ job, error, noProgress, durationMs }: AttemptFailed): Measurement[] {
    const healing = this.healing.get(job);
    this.healing.delete(job);
    remember(this.failedAs, job, error.class);
    const found = attempt("failed", error.class, durationMs);
    if (healing !== undefined) {
      this.tried.add(job);
      found.push(count("task.self_heal.attempts_total", { ...healing, outcome: "failed" }));
    }
    if (error.code === "IDLE_TIMEOUT") found.push(count("task.step.idle_timeout_total"));
    else if (error.code === "TIMEOUT") found.push(count("task.step.wall_timeout_total"));
    if (noProgress !== null) found.push(count("task.step.no_progress_total"));
    return found;
  }

  private forget(job: number): void {
    this.healing.delete(job);
    this.failedAs.delete(job);
    this.tried.delete(job);
  }
}

function attempt(outcome: string, failureClass: string | null, durationMs: number): Measurement[] {
  return [
    { name: "task.step.duration_seconds", value: durationMs / 1000, labels: { outcome } },
    count("daruma.attempts_total", { outcome, class: failureClass ?? "none" }),
  ];
}

function recovered(outcome: string): Measurement[] {
  return outcome === "succeeded" ? [count("task.self_heal.recovered_total")] : [];
}

function count(name: SeriesName, labels: { readonly [label: string]: string } = {}): Measurement {
  return { name, value: 1, labels };
}

function remember<Value>(map: Map<number, Value>, key: number, value: Value): void {
  map.delete(key);
  map.set(key, value);
  if (map.size > MAX_REMEMBERED_JOBS) map.delete(map.keys().next().value!);
}
