import type { Event } from "../../src/core/model/events.js";

/** Whom a job's failure is left to: the job itself, or the step that a run list or an edge has passed it to. */
type Hands = { readonly to: number; readonly by: "itself" | "list" | "edge" };

/**
 * Who is at work on each failure, found from the log alone and only where the log leaves no doubt: what it does not
 * know it takes for let go.
 */
export class MendingBook {
  private readonly hands = new Map<number, Hands>();
  /** A repair was asked for, and the next event says whether it is free. */
  private asked: number | null = null;
  /** The failure that had just passed to nobody, because its repair is at work for another. */
  letGo: number | null = null;

  /** The job at the end of the row; null: nobody that the log is sure of. */
  whoMends(job: number): number | null {
    const seen = new Set<number>();
    for (let at = job; !seen.has(at); ) {
      seen.add(at);
      const next = this.hands.get(at);
      if (next === undefined) return null;
      if (next.by === "itself") return at;
      at = next.to;
    }
    return null;
  }

  note(event: Event): void {
    this.letGo = null;
    if (this.asked !== null && !(event.type === "visit.entered" && event.by === this.asked))
      this.letGo = this.asked;
    this.asked = null;
    if ("kept_back" in event && event.kept_back !== undefined) this.drop(event.kept_back);
    switch (event.type) {
      case "attempt.started":
      case "attempt.failed":
      case "job.let_through":
      case "retry.scheduled":
      case "rule.reserved":
      case "reset.reserved":
        return this.takeUp(event.job);
      case "jobs.ready":
      case "jobs.unparked":
        for (const id of event.jobs) this.takeUp(id);
        return;
      case "visit.requested":
        this.asked = event.by;
        this.hands.delete(event.by);
        return;
      case "visit.entered":
        // An edge that has led to the job has led to an earlier visit.
        this.endEdgesTo(event.job);
        this.hands.set(event.by, { to: event.job, by: "list" });
        return;
      case "edge.taken":
        if (event.on === "failure" && !event.counted)
          this.hands.set(event.job, { to: event.target, by: "edge" });
        return;
      case "attempt.succeeded":
        this.endEdgesTo(event.job);
        this.drop(event.job);
        return;
      case "attempt.stopped":
      case "requeue.scheduled":
      case "job.parked":
      case "job.held":
      case "job.failed":
        this.drop(event.job);
        return;
      case "jobs.canceled":
      case "jobs.skipped":
        for (const id of event.jobs) this.drop(id);
        return;
      case "jobs.retried":
        for (const id of [...event.jobs, ...event.reblocked]) this.drop(id);
        return;
      case "scope.abandoned":
        for (const id of event.canceled) this.drop(id);
        return;
      case "barrier.opened":
        for (const id of event.members) this.drop(id);
        return;
      case "barrier.closed":
        // As above: their next visit is for whoever has gone back to them.
        for (const id of event.invalidated) this.endEdgesTo(id);
        for (const id of [...event.invalidated, ...event.retired]) this.drop(id);
        return;
      default:
        return;
    }
  }

  private takeUp(job: number): void {
    this.hands.set(job, { to: job, by: "itself" });
  }

  private endEdgesTo(job: number): void {
    for (const [source, { to, by }] of this.hands) if (by === "edge" && to === job) this.hands.delete(source);
  }

  /** What its list had entered goes with it. */
  private drop(job: number): void {
    const had = this.hands.get(job);
    this.hands.delete(job);
    if (had?.by === "list") this.drop(had.to);
  }
}
