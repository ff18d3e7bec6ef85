import type { AttemptPlace } from "../../core/model/worker-names.js";
import type { Assignment, Ended, HeldAttempt, Needs } from "../../run/worker.js";
import type { PoolWorker } from "./pool-worker.js";
import { type ReportAnswer, type Stream, stream } from "./protocol.js";
import type { ReceivedFiles } from "./received-files.js";

/** `queued`: to be sent. `sent`: in an answer that may have been lost. `received`: the worker has it. */
export type Delivery = "queued" | "sent" | "received";

/** How long the end of an attempt waits for the batch system's verdict on its allocation. */
export const VERDICT_MS = 60_000;

/** An attempt or recovery script that this server has on a remote worker, or expects there. */
export class PoolAttempt {
  /** Null if a worker is expected to register with it. */
  worker: PoolWorker | null = null;
  /** Who waits for its end. Null if this server does not (or no longer) own its run. */
  ended: Ended | null = null;
  /** It was in an answer, perhaps a lost one, so the worker may have it. */
  wasSent = false;
  stopping = false;
  /** The worker has not been asked to stop it yet. */
  isStopNews = false;
  /** It has reported, so its room is free, whatever happens to the report. */
  hasEnded = false;
  /** The report that is being committed. */
  reporting: Promise<ReportAnswer> | null = null;
  /** When its worker first reported that it was ended together with the worker, on the monotonic clock. */
  evictedAt: number | null = null;
  /** How many heartbeats in a row did not mention it. */
  missed = 0;
  /** When this server began to wait for it, on the monotonic clock. */
  since = 0;
  cancelExpiry: () => void = () => {};
  /** When it is over at the latest, on the monotonic clock. Null if unknown. */
  endsAt: number | null = null;
  /** Whether it tests if its worker works again. */
  proves = false;
  /** Logs that have begun to arrive, here or at the previous server. */
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

  /** Whether an owned run waits for it, or for the result of its report. */
  get isWanted(): boolean {
    return this.ended !== null || this.reporting !== null;
  }

  /** What it takes of its worker. */
  get needs(): Needs {
    return this.held.needs;
  }

  /** Where it is, or was last seen. */
  get at(): AttemptPlace | undefined {
    return this.worker?.at ?? this.lastAt ?? this.held.at;
  }

  /**
   * Whether it has an allocation to itself. If that ends, only the batch system knows whether the attempt caused it.
   */
  get awaitsVerdict(): boolean {
    const isAlone = this.needs.nodes > 1 && (this.at?.allocation ?? null) !== null;
    return isAlone && !this.isUnsent && !this.held.recovery;
  }

  /** Whether it certainly has not begun on any worker. */
  get isUnsent(): boolean {
    return this.delivery === "queued" && !this.wasSent;
  }

  /** Writes pieces of its logs one after the other. Resolves to how much of the log is here. */
  writeLog(files: ReceivedFiles, stream: Stream, offset: number, bytes: Uint8Array): Promise<number> {
    const begin = !this.begun.has(stream);
    this.begun.add(stream);
    const written = this.writing.then(() => files.writeLog(this.held, { stream, offset, bytes, begin }));
    this.writing = written.catch(() => {});
    return written;
  }

  received(): void {
    this.delivery = "received";
    // Dropped, because it can be large and nobody needs it any more.
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
