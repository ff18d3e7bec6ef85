import { DarumaError } from "../core/errors/errors.js";
import type { LeaseOwner, Store } from "../store/store.js";
import type { Clock } from "./clock.js";

/** How long a silent owner on another host keeps its runs. */
export const DEFAULT_LEASE_MS = 30_000;

/** How long a decision is waited for: one that cancels first ends what the last owner has left. */
const DECISION_MS = 10_000;
const DECISION_POLL_MS = 20;

interface Held {
  readonly fence: number;
  readonly lost: (error: unknown) => void;
  /** When the renewal that was granted last was asked for, by the monotonic clock. */
  renewedAt: number;
}

/** Of a lease: how often it is looked at, and when a run whose lease could not be renewed is let go. */
const WATCH_EVERY = 1 / 12;
const GIVE_UP_AFTER = 3 / 4;

/** Takes runs and keeps them by renewing their leases; says so when one is gone. */
export class LeaseKeeper {
  private readonly held = new Map<number, Held>();
  private cancelRenewal: (() => void) | null = null;
  private cancelWatch: (() => void) | null = null;
  private renewing = false;
  /** Of the last renewal, if it failed. */
  private failure: unknown = null;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly owner: LeaseOwner,
    private readonly isDead: (owner: LeaseOwner) => boolean,
    private readonly leaseMs = DEFAULT_LEASE_MS,
  ) {}

  /**
   * The fencing token under which the run may be written. A dead owner on this host is replaced at once; one that only
   * decides something is waited for.
   */
  async acquire(runId: number, lost: (error: unknown) => void): Promise<number> {
    const waitsUntil = this.clock.elapsed() + DECISION_MS;
    for (;;) {
      const owner = await this.tryToAcquire(runId, lost);
      if (typeof owner === "number") return owner;
      if (owner.decides !== true || this.clock.elapsed() >= waitsUntil)
        throw new DarumaError(
          "RUN_OWNED",
          `run ${runId} is being run by process ${owner.pid} on ${owner.host}`,
        );
      await new Promise<void>((passed) => this.clock.after(DECISION_POLL_MS, passed));
    }
  }

  /** Who has it, where it cannot be had now. */
  private async tryToAcquire(runId: number, lost: (error: unknown) => void): Promise<number | LeaseOwner> {
    let askedAt = this.clock.elapsed();
    const first = await this.request(runId);
    if (first.granted) return this.hold(runId, first.fence, lost, askedAt);
    const { lease } = first;
    if (this.isDead(lease.owner)) {
      askedAt = this.clock.elapsed();
      const second = await this.request(runId, lease.fence);
      if (second.granted) return this.hold(runId, second.fence, lost, askedAt);
    }
    return lease.owner;
  }

  private request(runId: number, evenFrom?: number): ReturnType<Store["acquireLease"]> {
    const now = this.clock.now();
    const request = { runId, owner: this.owner, now, expiresAt: now + this.leaseMs };
    return this.store.acquireLease(evenFrom === undefined ? request : { ...request, evenFrom });
  }

  /** Keep a lease that was granted already. */
  hold(runId: number, fence: number, lost: (error: unknown) => void, askedAt = this.clock.elapsed()): number {
    this.held.set(runId, { fence, lost, renewedAt: askedAt });
    this.schedule();
    return fence;
  }

  forget(runId: number): void {
    this.held.delete(runId);
    if (this.held.size === 0) this.stop();
  }

  /** Best effort: a lease that cannot be given back runs out by itself. */
  async release(runId: number): Promise<void> {
    const held = this.held.get(runId);
    if (held === undefined) return;
    this.forget(runId);
    await this.store.releaseLease(runId, held.fence).catch(() => {});
  }

  stop(): void {
    this.cancelRenewal?.();
    this.cancelRenewal = null;
    this.cancelWatch?.();
    this.cancelWatch = null;
  }

  private schedule(): void {
    this.cancelRenewal ??= this.clock.after(Math.floor(this.leaseMs / 3), () => {
      this.cancelRenewal = null;
      void this.renewAll();
    });
    if (this.cancelWatch === null) this.watchNext();
  }

  private async renewAll(): Promise<void> {
    if (this.renewing) return;
    this.renewing = true;
    const asked = [...this.held];
    const sentAt = this.clock.elapsed();
    try {
      const now = this.clock.now();
      const leases = asked.map(([runId, { fence }]) => ({ runId, fence }));
      const gone = new Set(await this.store.renewLeases(leases, now, now + this.leaseMs));
      this.failure = null;
      for (const [runId, held] of asked) {
        if (this.held.get(runId) !== held) continue;
        if (!gone.has(runId)) held.renewedAt = sentAt;
        else
          this.lose(
            runId,
            held,
            new DarumaError("LEASE_LOST", `run ${runId} was taken over by another engine`),
          );
      }
    } catch (error) {
      // While the leases still have time there will be another try; the watch knows when there is none.
      this.failure = error;
      if (isBeyondWaiting(error)) for (const [runId, held] of asked) this.lose(runId, held, error);
    } finally {
      this.renewing = false;
      if (this.held.size > 0) this.schedule();
    }
  }

  /**
   * Whatever the store does, an answer that never comes included: a run is let go before its lease has run out, since
   * another engine may then begin its attempts anew.
   */
  private watchNext(): void {
    const dueAt = this.clock.elapsed() + this.leaseMs * WATCH_EVERY;
    this.cancelWatch = this.clock.after(this.leaseMs * WATCH_EVERY, () => {
      this.watchNext();
      const now = this.clock.elapsed();
      // This process itself was stopped for a while. Who has taken nothing from it may have it all back.
      if (now - dueAt > this.leaseMs * WATCH_EVERY) return void this.renewAll();
      for (const [runId, held] of [...this.held])
        if (now - held.renewedAt >= this.leaseMs * GIVE_UP_AFTER)
          this.lose(runId, held, this.failure ?? notRenewed(runId));
    });
  }

  private lose(runId: number, { lost }: Held, error: unknown): void {
    this.forget(runId);
    lost(error);
  }
}

/** Attempts that go on could be recorded nowhere. */
function isBeyondWaiting(error: unknown): boolean {
  return error instanceof DarumaError && (error.code === "STORE_GONE" || error.code === "STORE_DAMAGED");
}

function notRenewed(runId: number): DarumaError {
  return new DarumaError("STORE_FAILED", `the lease of run ${runId} could not be renewed in time`);
}
