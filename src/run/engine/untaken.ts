import { DarumaError } from "../../core/errors/errors.js";
import type { Clock } from "./clock.js";
import type { RunHost } from "./run-host.js";

const FIRST_TRY_MS = 100;
const MAX_TRY_MS = 2_000;
/** A store that renews a run's lease for so long but accepts none of its data never will. */
const MAX_REFUSING_MS = 60_000;

interface Untaken<Batch> {
  readonly batch: Batch;
  readonly since: number;
  delayMs: number;
  isDue: boolean;
  cancel: () => void;
}

/**
 * Decisions that a failing store did not accept. They are retried even if the run's lease could not be renewed
 * meanwhile. The store itself refuses them once somebody else has taken the run.
 */
export class UntakenBatches<Batch extends { readonly host: RunHost }> {
  private readonly batches = new Map<RunHost, Untaken<Batch>>();
  private readonly waiters = new Map<RunHost, (() => void)[]>();
  private stopped = false;

  constructor(
    private readonly clock: Clock,
    private readonly tryAgain: () => void,
  ) {}

  has(host: RunHost): boolean {
    return this.batches.has(host);
  }

  of(host: RunHost): Batch | null {
    return this.batches.get(host)?.batch ?? null;
  }

  runIds(): number[] {
    return [...this.batches.keys()].map(({ run }) => run.id);
  }

  due(): Batch[] {
    return [...this.batches.values()].flatMap(({ batch, isDue }) => (isDue ? [batch] : []));
  }

  /**
   * Keeps a batch for another try. Returns false if that is pointless. For a run that is not on record yet, its caller
   * tries again.
   */
  keep(batch: Batch, isFirst: boolean, error: unknown): boolean {
    const { host } = batch;
    const known = this.batches.get(host);
    const elapsed = this.clock.elapsed();
    const since = known?.since ?? elapsed;
    const isHopeless = host.lostBecause === null ? elapsed - since > MAX_REFUSING_MS : known === undefined;
    const isPassing = error instanceof DarumaError && error.code === "STORE_FAILED";
    if (isFirst || isHopeless || !isPassing || this.stopped) return false;
    const delayMs = known === undefined ? FIRST_TRY_MS : Math.min(known.delayMs * 2, MAX_TRY_MS);
    const untaken: Untaken<Batch> = { batch, since, delayMs, isDue: false, cancel: () => {} };
    untaken.cancel = this.clock.after(delayMs, () => {
      untaken.isDue = true;
      this.tryAgain();
    });
    this.batches.set(host, untaken);
    return true;
  }

  /** Drops a batch that is on record, or never will be. */
  drop(host: RunHost): void {
    this.batches.get(host)?.cancel();
    this.batches.delete(host);
    for (const gone of this.waiters.get(host) ?? []) gone();
    this.waiters.delete(host);
  }

  /** Resolves when nothing of this run is being retried; null if nothing is. */
  over(host: RunHost): Promise<void> | null {
    if (!this.batches.has(host)) return null;
    return new Promise((resolve) => {
      this.waiters.set(host, [...(this.waiters.get(host) ?? []), resolve]);
    });
  }

  /** Tries all batches once more, for the last time. */
  stop(): void {
    this.stopped = true;
    for (const untaken of this.batches.values()) {
      untaken.cancel();
      untaken.isDue = true;
    }
  }
}
