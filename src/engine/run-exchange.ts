import type { HeldLease, LeaseOwner, Store, WaitingRun } from "../store/store.js";
import type { Needs, Place, Worker } from "../worker/worker.js";
import type { Clock } from "./clock.js";
import type { Engine } from "./engine.js";
import { DEFAULT_LEASE_MS } from "./lease-keeper.js";
import { Loop } from "./loop.js";
import type { RunAsks } from "./waiting-runs.js";

/** How often a server looks for waiting runs, its own and those of others. */
export const EXCHANGE_POLL_MS = 1_000;
/** A run that its own server has no worker for is named to the others after this long. */
export const NAMED_AFTER_MS = 2_000;

export interface RunExchangeOptions {
  readonly store: Store;
  readonly engine: Engine;
  readonly worker: Worker;
  readonly clock: Clock;
  /** The same as the engine's. */
  readonly owner: LeaseOwner;
  readonly leaseMs?: number;
  /** Whether this server sees the file or folder. */
  readonly sees?: (path: string) => boolean;
  /** Runs that this server cannot go on with. */
  readonly leftAlone: () => readonly number[];
  /** Go on with a run that was taken. */
  readonly take: (run: HeldLease) => Promise<void>;
}

/**
 * No run waits at one server while a worker that fits is idle at another: a server names the runs that it has no worker
 * for, and whoever has room for one takes it. Who takes it has the worker, so a run never goes to and fro between
 * servers that have none; it moves only while nothing of it is under way, so nothing is lost or begun twice.
 */
export class RunExchange {
  private readonly loop: Loop;
  /** By run: how long its log has stood still while it waits. */
  private readonly since = new Map<number, { readonly seq: number; readonly at: number }>();
  /** What the store was last told; null: nobody knows. */
  private named: string | null = null;

  constructor(private readonly options: RunExchangeOptions) {
    this.loop = new Loop(options.clock, { turn: () => this.look(), restMs: () => EXCHANGE_POLL_MS });
  }

  start(): void {
    this.loop.rest();
  }

  /** Resolves when nothing is being taken. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** A store that fails now is asked again at the next look. */
  private async look(): Promise<void> {
    await this.nameWaiting().catch(() => {
      this.named = null;
    });
    await this.takeFitting().catch(() => {});
  }

  private async nameWaiting(): Promise<void> {
    const { store, engine, owner, clock } = this.options;
    const now = clock.elapsed();
    const waiting = engine.waitingRuns();
    const still = new Set(waiting.map(({ runId }) => runId));
    for (const runId of [...this.since.keys()]) if (!still.has(runId)) this.since.delete(runId);
    const overdue = waiting.filter(({ runId, seq }) => {
      const known = this.since.get(runId);
      if (known?.seq === seq) return now - known.at >= NAMED_AFTER_MS;
      this.since.set(runId, { seq, at: now });
      return false;
    });
    const text = JSON.stringify(overdue);
    if (text === (this.named ?? (overdue.length === 0 ? text : null))) return;
    await store.putWaiting(owner, overdue);
    this.named = text;
  }

  private async takeFitting(): Promise<void> {
    const { store, owner, leftAlone } = this.options;
    const waiting = await store.listWaiting(owner);
    if (waiting.length === 0) return;
    const alone = new Set(leftAlone());
    const taking: Promise<void>[] = [];
    for (const run of waiting) {
      if (this.loop.isStopped) break;
      const place = alone.has(run.runId) ? null : this.placeFor(run);
      if (place !== null) taking.push(this.takeOne(run, place));
    }
    await Promise.all(taking);
  }

  /** Held until the run is ours, so that one slot does not bring several runs here. */
  private placeFor({ asks }: WaitingRun): Place | null {
    const { worker, sees = () => true } = this.options;
    const { needs, paths } = JSON.parse(asks) as RunAsks;
    if (!paths.every(sees)) return null;
    for (const asked of needs) {
      // A server of the version before says nothing of these.
      const one: Needs = { ...{ gpus: 0, nodes: 1, runtimeMs: null, wants: [] }, ...asked };
      const place = worker.place(one);
      if (place !== null && place !== "full") return place;
    }
    return null;
  }

  private async takeOne(run: WaitingRun, place: Place): Promise<void> {
    const { store, clock, owner, worker, leaseMs = DEFAULT_LEASE_MS, take } = this.options;
    const now = clock.now();
    let taken: HeldLease | null;
    try {
      taken = await store.takeWaiting(run, { owner, now, expiresAt: now + leaseMs });
    } finally {
      worker.release(place);
    }
    if (taken !== null) await take(taken);
  }
}
