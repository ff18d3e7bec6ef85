import type { HeldLease, LeaseOwner, Store, WaitingRun } from "../../store/store.js";
import type { Needs, Seat, Worker } from "../worker.js";
import type { Clock } from "./clock.js";
import type { Engine } from "./engine.js";
import { DEFAULT_LEASE_MS } from "./lease-keeper.js";
import { Loop } from "./loop.js";
import type { RunAsks } from "./waiting-runs.js";

/** How often a server checks for waiting runs, its own and those of others. */
export const EXCHANGE_POLL_MS = 1_000;
/** How long a run without a suitable worker waits before its server lists it for others. */
export const NAMED_AFTER_MS = 2_000;

export interface RunExchangeOptions {
  readonly store: Store;
  readonly engine: Engine;
  readonly worker: Worker;
  readonly clock: Clock;
  /** The same owner as the engine's. */
  readonly owner: LeaseOwner;
  readonly leaseMs?: number;
  /** Whether this server can access the file or folder. */
  readonly sees?: (path: string) => boolean;
  /** Runs that this server cannot continue. */
  readonly leftAlone: () => readonly number[];
  /** Continues a run that was taken. */
  readonly take: (run: HeldLease) => Promise<void>;
}

/**
 * Ensures that no run waits at one server while a suitable worker is idle at another: a server lists the runs that it
 * has no worker for, and a server with room for one takes it. The taker has the worker, so a run never moves back and
 * forth between servers that have none. It moves only while nothing of it is in progress, so nothing is lost or
 * repeated.
 */
export class RunExchange {
  private readonly loop: Loop;
  /** By run: how long its log has not grown while it waits. */
  private readonly since = new Map<number, { readonly seq: number; readonly at: number }>();
  /** What the store was last told; null if unknown. */
  private named: string | null = null;

  constructor(private readonly options: RunExchangeOptions) {
    this.loop = new Loop(options.clock, { turn: () => this.look(), restMs: () => EXCHANGE_POLL_MS });
  }

  start(): void {
    this.loop.rest();
  }

  /** Resolves when no run is being taken. */
  stop(): Promise<void> {
    return this.loop.stop();
  }

  /** One round. A failing store is tried again in the next one. */
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

  /** Reserves a place until the run is ours, so that one slot does not attract several runs. */
  private placeFor({ asks }: WaitingRun): Seat | null {
    const { worker, sees = () => true } = this.options;
    const { needs, paths } = JSON.parse(asks) as RunAsks;
    if (!paths.every(sees)) return null;
    for (const asked of needs) {
      // A server of the previous version does not provide these.
      const one: Needs = { ...{ gpus: 0, nodes: 1, runtimeMs: null, wants: [] }, ...asked };
      const place = worker.place(one);
      if (place !== null && place !== "full") return place;
    }
    return null;
  }

  private async takeOne(run: WaitingRun, place: Seat): Promise<void> {
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
