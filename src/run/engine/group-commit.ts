import { DarumaError } from "../../core/errors/errors.js";
import type { LoggedEvent } from "../../core/model/events.js";
import type { Store } from "../../store/store.js";
import type { Clock } from "./clock.js";
import type { EngineOptions } from "./engine-options.js";
import type { RunHost } from "./run-host.js";
import { SnapshotKeeper } from "./snapshot/snapshots.js";

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
class UntakenBatches<Batch extends { readonly host: RunHost }> {
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

/** An action that the engine takes once its events are safe. */
type Effect = () => void;

interface CommitListener {
  committed(host: RunHost, events: readonly LoggedEvent[]): void;
  /** The engine's runs, requested whenever the next batch can be written. */
  hosts(): Iterable<RunHost>;
  refused(host: RunHost, error: unknown): void;
  /** Called when notices for people were committed. */
  noticed(): void;
}

interface Waiting {
  readonly host: RunHost;
  readonly effect: Effect;
  /** Called instead if the commit was refused. */
  readonly dropped: Effect | null;
}

interface Batch {
  readonly host: RunHost;
  readonly drained: ReturnType<RunHost["drain"]>;
  /** Its effects while it is being retried. Otherwise they are among the effects of all. */
  readonly effects: Waiting[];
}

/**
 * Writes the decisions of all runs in one transaction, one batch at a time. Decisions made while a batch is being
 * written go into the next. Effects follow only after their batch is in, in order: what is not committed did not
 * happen.
 */
export class GroupCommit {
  private effects: Waiting[] = [];
  private inFlight: Promise<void> | null = null;
  private readonly store: Store;
  private readonly snapshots: SnapshotKeeper;
  readonly untaken: UntakenBatches<Batch>;

  constructor(
    { store, snapshotEvents, clock }: Pick<EngineOptions, "store" | "snapshotEvents" | "clock">,
    private readonly listener: CommitListener,
  ) {
    this.store = store;
    this.snapshots = new SnapshotKeeper(store, snapshotEvents);
    this.untaken = new UntakenBatches(clock, () => this.flush());
  }

  afterCommit(host: RunHost, effect: Effect, dropped: Effect | null = null): void {
    const earlier = host.hasPending ? null : this.untaken.of(host);
    (earlier?.effects ?? this.effects).push({ host, effect, dropped });
  }

  /** A released host commits nothing more, so its waiting effects are dropped. */
  forget(host: RunHost): void {
    const gone = this.effects.filter((waiting) => waiting.host === host);
    this.effects = this.effects.filter((waiting) => waiting.host !== host);
    const earlier = this.untaken.of(host)?.effects.splice(0) ?? [];
    for (const { dropped } of [...earlier, ...gone]) dropped?.();
  }

  /** Sends the next batch unless one is in progress. After its arrival the hosts are asked again. */
  flush(): void {
    if (this.inFlight !== null) return;
    const batch = this.untaken.due();
    const again = batch.flatMap((due) => due.effects.splice(0));
    for (const host of [...this.listener.hosts()])
      if (host.hasPending && !this.untaken.has(host)) this.drain(host, batch);
    if (batch.length === 0) return;
    const effects = [...again, ...this.takeEffects()];
    this.inFlight = this.write(batch).then((written) => {
      this.inFlight = null;
      for (const { host } of batch) if (written.has(host)) this.untaken.drop(host);
      for (const waiting of effects) this.run(waiting, written);
      for (const { host, drained } of batch)
        if (written.has(host)) this.listener.committed(host, drained.events);
      if (batch.some(({ host, drained }) => written.has(host) && drained.append.outbox !== undefined))
        this.listener.noticed();
      this.flush();
    });
  }

  /** Takes the effects, except those behind a decision that the store did not take. */
  private takeEffects(): Waiting[] {
    const effects = this.effects;
    this.effects = effects.filter(({ host }) => this.untaken.has(host));
    return this.effects.length === 0 ? effects : effects.filter(({ host }) => !this.untaken.has(host));
  }

  /** Drains one host. If its decisions cannot be serialised, only that run is affected. */
  private drain(host: RunHost, batch: Batch[]): void {
    try {
      batch.push({ host, drained: host.drain(), effects: [] });
      const writeSnapshot = this.snapshots.take(host);
      if (writeSnapshot !== null) this.afterCommit(host, writeSnapshot);
    } catch (error) {
      this.listener.refused(host, error);
    }
  }

  get isBusy(): boolean {
    return this.inFlight !== null;
  }

  /** Runs an effect. An error in it must not stop the effects of other runs. */
  private run(waiting: Waiting, written: ReadonlySet<RunHost>): void {
    const { host, effect, dropped } = waiting;
    const untaken = this.untaken.of(host);
    if (untaken !== null && host.lostBecause === null) return void untaken.effects.push(waiting);
    if (!written.has(host) || host.lostBecause !== null) return dropped?.();
    try {
      effect();
    } catch (error) {
      this.listener.refused(host, error);
    }
  }

  /** Resolves when no batch is in progress. */
  async settled(): Promise<void> {
    while (this.inFlight !== null) await this.inFlight;
  }

  /** Tries once more what the store did not take, then gives it up. */
  async stop(): Promise<void> {
    this.untaken.stop();
    this.flush();
    await this.settled();
  }

  private async write(batch: readonly Batch[]): Promise<ReadonlySet<RunHost>> {
    try {
      await this.store.commit(batch.map(({ drained }) => drained.append));
      return new Set(batch.map(({ host }) => host));
    } catch (error) {
      if (batch.length > 1) return this.writeOneByOne(batch);
      const { host, drained } = batch[0]!;
      if (this.untaken.keep(batch[0]!, drained.append.firstSeq === 1, error)) return new Set();
      this.untaken.drop(host);
      this.listener.refused(host, error);
      return new Set();
    }
  }

  /** Writes each run alone after one of several was refused, so that the others are not affected. */
  private async writeOneByOne(batch: readonly Batch[]): Promise<ReadonlySet<RunHost>> {
    const written = new Set<RunHost>();
    for (const one of batch) for (const host of await this.write([one])) written.add(host);
    return written;
  }
}
