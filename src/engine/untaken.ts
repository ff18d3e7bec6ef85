import { DarumaError } from "../core/errors/errors.js";
import type { Clock } from "./clock.js";
import type { RunHost } from "./run-host.js";

const FIRST_TRY_MS = 100;
const MAX_TRY_MS = 2_000;
/** A store that renews the lease of a run for so long, but takes nothing of it, never will. */
const MAX_REFUSING_MS = 60_000;

interface Untaken<Batch> {
  readonly batch: Batch;
  readonly since: number;
  delayMs: number;
  isDue: boolean;
  cancel: () => void;
}

/**
 * What runs have decided and a store that failed did not take: it is tried again, also when the run's lease could not be
 * renewed meanwhile. The store itself refuses it once somebody else has taken the run.
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

  /** False: it is not worth another try. A run that is not on record yet has a caller who tries again. */
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

  /** It is on record, or will never be. */
  drop(host: RunHost): void {
    this.batches.get(host)?.cancel();
    this.batches.delete(host);
    for (const gone of this.waiters.get(host) ?? []) gone();
    this.waiters.delete(host);
  }

  /** Resolves when nothing of this run is tried any more; null: nothing is. */
  over(host: RunHost): Promise<void> | null {
    if (!this.batches.has(host)) return null;
    return new Promise((resolve) => {
      this.waiters.set(host, [...(this.waiters.get(host) ?? []), resolve]);
    });
  }

  /** All are due once more, and for the last time. */
  stop(): void {
    this.stopped = true;
    for (const untaken of this.batches.values()) {
      untaken.cancel();
      untaken.isDue = true;
    }
  }
}
