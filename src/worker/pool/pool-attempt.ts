import type { AttemptPlace } from "../../core/model/worker-names.js";
import type { Assignment, Ended, HeldAttempt, Needs } from "../worker.js";
import type { PoolWorker } from "./pool-worker.js";
import { type ReportAnswer, type Stream, stream } from "./protocol.js";
import type { ReceivedFiles } from "./received-files.js";

/** `queued`: to be sent. `sent`: in an answer that may have been lost. `received`: the worker has it. */
export type Delivery = "queued" | "sent" | "received";

/** So long the end of an attempt waits for what the batch system says of its allocation. */
export const VERDICT_MS = 60_000;

/** An attempt or recovery script that this server has, or expects to find, on a remote worker. */
export class PoolAttempt {
  /** Null: it is expected of whoever registers with it. */
  worker: PoolWorker | null = null;
  /** Who waits for its end. Null: its run is not, or no longer, this server's. */
  ended: Ended | null = null;
  /** It was in an answer, be it one that is thought lost: the worker may have it. */
  wasSent = false;
  stopping = false;
  /** The worker has not been told of it. */
  isStopNews = false;
  /** It has reported: its room is free, whatever becomes of the report. */
  hasEnded = false;
  /** A report that is being committed. */
  reporting: Promise<ReportAnswer> | null = null;
  /** When its worker first said that it was ended with the worker, by the monotonic clock. */
  evictedAt: number | null = null;
  /** Heartbeats in a row that did not speak of it. */
  missed = 0;
  /** When this server began to wait for it, by the monotonic clock. */
  since = 0;
  cancelExpiry: () => void = () => {};
  /** When it is over at the latest, by the monotonic clock; null: nobody knows. */
  endsAt: number | null = null;
  /** It shows whether its worker works again. */
  proves = false;
  /** Logs that have begun to arrive, here or at the server before. */
  private readonly begun: Set<Stream>;
  private writing: Promise<unknown> = Promise.resolve();
  private lastAt: AttemptPlace | undefined;

  constructor(
    readonly held: HeldAttempt,
    public delivery: Delivery,
    public assignment: Assignment | null,
  ) {
    this.begun = new Set(assignment === null ? stream.options : []);
  }

  get token(): string {
    return this.held.token;
  }

  /** An owned run waits for it, or for what became of its report. */
  get isWanted(): boolean {
    return this.ended !== null || this.reporting !== null;
  }

  /** What it takes of its worker. */
  get needs(): Needs {
    return this.held.needs;
  }

  /** Where it is, or was when it was last seen. */
  get at(): AttemptPlace | undefined {
    return this.worker?.at ?? this.lastAt ?? this.held.at;
  }

  /** It has an allocation to itself: if that ends under it, only the batch system knows whether that is its own fault. */
  get awaitsVerdict(): boolean {
    const isAlone = this.needs.nodes > 1 && (this.at?.allocation ?? null) !== null;
    return isAlone && !this.isUnsent && !this.held.recovery;
  }

  /** No worker can have begun it. */
  get isUnsent(): boolean {
    return this.delivery === "queued" && !this.wasSent;
  }

  /** Pieces of its logs are written one after the other. Resolves to how much of this log is here. */
  writeLog(files: ReceivedFiles, stream: Stream, offset: number, bytes: Uint8Array): Promise<number> {
    const begin = !this.begun.has(stream);
    this.begun.add(stream);
    const written = this.writing.then(() => files.writeLog(this.held, { stream, offset, bytes, begin }));
    this.writing = written.catch(() => {});
    return written;
  }

  received(): void {
    this.delivery = "received";
    // It can be large, and nobody needs it any more.
    this.assignment = null;
    this.missed = 0;
  }

  putOn(worker: PoolWorker): void {
    this.leave();
    this.worker = worker;
    this.lastAt = worker.at;
    worker.attempts.add(this);
    worker.strays.delete(this.token);
  }

  leave(): void {
    this.cancelExpiry();
    this.worker?.attempts.delete(this);
    this.worker?.strays.delete(this.token);
    this.worker = null;
  }
}
