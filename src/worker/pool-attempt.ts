import type { PoolWorker } from "./pool-worker.js";
import type { ReportAnswer } from "./protocol.js";
import type { Assignment, HeldAttempt, Needs, Report } from "./worker.js";

/** `queued`: to be sent. `sent`: in an answer that may have been lost. `received`: the worker has it. */
export type Delivery = "queued" | "sent" | "received";

/** An attempt or recovery script that this server has, or expects to find, on a remote worker. */
export class PoolAttempt {
  /** Null: it is expected of whoever registers with it. */
  worker: PoolWorker | null = null;
  /** Null: its run is not, or no longer, this server's. */
  listener: ((report: Report | null) => void) | null = null;
  stopping = false;
  /** The worker has not been told of it. */
  isStopNews = false;
  /** It has reported: its room is free, whatever becomes of the report. */
  hasEnded = false;
  /** A report that is being committed. */
  reporting: Promise<ReportAnswer> | null = null;
  /** Heartbeats in a row that did not speak of it. */
  missed = 0;
  cancelExpiry: () => void = () => {};

  constructor(
    readonly held: HeldAttempt,
    readonly needs: Needs,
    public delivery: Delivery,
    public assignment: Assignment | null,
  ) {}

  get token(): string {
    return this.held.token;
  }

  /** An owned run waits for it, or for what became of its report. */
  get isWanted(): boolean {
    return this.listener !== null || this.reporting !== null;
  }

  received(): void {
    this.delivery = "received";
    // It can be large, and nobody needs it any more.
    this.assignment = null;
    this.missed = 0;
  }

  putOn(worker: PoolWorker): void {
    this.cancelExpiry();
    this.worker = worker;
    worker.attempts.add(this);
    worker.strays.delete(this.token);
  }

  /** Tell whoever waits, once. */
  settle(report: Report | null): void {
    const { listener } = this;
    this.listener = null;
    listener?.(report);
  }

  leave(): void {
    this.cancelExpiry();
    this.worker?.attempts.delete(this);
    this.worker?.strays.delete(this.token);
  }
}
