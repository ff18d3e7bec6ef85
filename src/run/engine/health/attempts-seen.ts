import type { Event, LoggedEvent } from "../../../core/model/events.js";
import { jobById, type Run } from "../../../core/model/run.js";
import { answerableFor, placeOf } from "../../../core/model/worker-names.js";
import { blamesWorker } from "../../../core/quarantine/quarantine.js";

/** An attempt whose start is on record. */
export interface SeenAttempt {
  readonly run: number;
  readonly job: number;
  readonly step: string;
  readonly visit: number;
  readonly attempt: number;
  /** The worker's name in the log. */
  readonly label: string;
  /** The name whose health it counts for; null for the server's own worker. */
  readonly worker: string | null;
  readonly isProbation: boolean;
}

export type Ending =
  | { readonly kind: "succeeded" }
  /** The worker may be at fault. */
  | { readonly kind: "failed"; readonly code: string }
  /** It says nothing about its worker. */
  | { readonly kind: "ended" };

/** Attempts in progress, by their job, because a log names the worker of an attempt only at its start. */
export class AttemptsSeen {
  private readonly underWay = new Map<number, SeenAttempt>();

  get isEmpty(): boolean {
    return this.underWay.size === 0;
  }

  /** Adds the attempts of a run that was taken over, which an earlier engine began. */
  load(run: Run): void {
    for (const { id, attempt, attemptVisit: visit, step, ...job } of run.running)
      if (job.attemptWorker !== null)
        this.underWay.set(id, {
          ...{ run: run.id, job: id, step: step.definition.id, visit, attempt },
          label: job.attemptWorker,
          worker: answerableFor(job.attemptWorker, job.attemptPlace),
          isProbation: job.attemptPlaced === "probation",
        });
  }

  /** Returns the attempts that ended with these events, in order. */
  *take(run: Run, events: readonly LoggedEvent[]): Generator<{ attempt: SeenAttempt; ending: Ending }> {
    for (const { event } of events) {
      if (event.type === "attempt.started") this.begin(run, event);
      const ending = endingOf(event);
      if (ending === null) continue;
      const attempt = this.underWay.get(ending.job);
      if (attempt === undefined) continue;
      this.underWay.delete(ending.job);
      yield { attempt, ending: ending.ending };
    }
  }

  /** Whether a probation of this worker is in progress here. */
  isProving(worker: string): boolean {
    for (const each of this.underWay.values()) if (each.isProbation && each.worker === worker) return true;
    return false;
  }

  /** Forgets a run that is over or no longer ours. */
  forget(runId: number): void {
    for (const { run, job } of [...this.underWay.values()]) if (run === runId) this.underWay.delete(job);
  }

  private begin(run: Run, event: Extract<Event, { type: "attempt.started" }>): void {
    const { job, visit, attempt, worker: label, placed } = event;
    this.underWay.set(job, {
      ...{ run: run.id, job, step: jobById(run, job).step.definition.id, visit, attempt, label },
      worker: answerableFor(label, placeOf(event)),
      isProbation: placed === "probation",
    });
  }
}

function endingOf(event: Event): { readonly job: number; readonly ending: Ending } | null {
  switch (event.type) {
    case "attempt.succeeded":
      return { job: event.job, ending: { kind: "succeeded" } };
    case "attempt.failed": {
      const { code, class: failureClass } = event.error;
      const ending: Ending = blamesWorker(failureClass) ? { kind: "failed", code } : { kind: "ended" };
      return { job: event.job, ending };
    }
    case "attempt.stopped":
      return { job: event.job, ending: { kind: "ended" } };
    default:
      return null;
  }
}
