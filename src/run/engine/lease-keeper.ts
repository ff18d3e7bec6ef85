import { DarumaError } from "../../core/errors/errors.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import type { Clock } from "./clock.js";

/** How long an owner on another host that shows no sign of life keeps its runs. */
export const DEFAULT_LEASE_MS = 30_000;

/** How long to wait for an operator's decision: one that cancels first ends what the last owner left running. */
const DECISION_MS = 10_000;
const DECISION_POLL_MS = 20;

interface Held {
  readonly fence: number;
  readonly lost: (error: unknown) => void;
  /** When the last granted renewal was requested, on the monotonic clock. */
  renewedAt: number;
}

/**
 * How often leases are checked, and when a run whose lease could not be renewed is released, as parts of the lease's
 * length.
 */
const WATCH_EVERY = 1 / 12;
const GIVE_UP_AFTER = 3 / 4;

/** Takes runs and keeps them by renewing their leases. Calls back when one is lost. */
export class LeaseKeeper {
  private readonly held = new Map<number, Held>();
  private cancelRenewal: (() => void) | null = null;
  private cancelWatch: (() => void) | null = null;
  private renewing = false;
  /** The error of the last renewal, if it failed. */
  private failure: unknown = null;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly owner: LeaseOwner,
    private readonly isDead: (owner: LeaseOwner) => boolean,
    private readonly leaseMs = DEFAULT_LEASE_MS,
  ) {}

  /**
   * Acquires a lease and returns the fencing token under which the run may be written. A dead owner on this host is
   * replaced at once; one that only makes a decision is waited for.
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

  /** Returns the present owner if the lease cannot be acquired. */
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

  /** Keeps a lease that was already granted. */
  hold(runId: number, fence: number, lost: (error: unknown) => void, askedAt = this.clock.elapsed()): number {
    this.held.set(runId, { fence, lost, renewedAt: askedAt });
    this.schedule();
    return fence;
  }

  forget(runId: number): void {
    this.held.delete(runId);
    if (this.held.size === 0) this.stop();
  }

  /** Releases a lease as a best effort. One that cannot be released expires. */
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
      // While the leases last there will be another try. The watch notices when they end.
      this.failure = error;
      if (isBeyondWaiting(error)) for (const [runId, held] of asked) this.lose(runId, held, error);
    } finally {
      this.renewing = false;
      if (this.held.size > 0) this.schedule();
    }
  }

  /**
   * Watches the leases whatever the store does, even if it never answers: a run must be released before its lease
   * expires, because another engine may then repeat its attempts.
   */
  private watchNext(): void {
    const dueAt = this.clock.elapsed() + this.leaseMs * WATCH_EVERY;
    this.cancelWatch = this.clock.after(this.leaseMs * WATCH_EVERY, () => {
      this.watchNext();
      const now = this.clock.elapsed();
      // This process itself was stopped for a while. Leases that nobody has taken can be renewed.
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

/** Whether the store is beyond repair, so that running attempts could not be recorded. */
function isBeyondWaiting(error: unknown): boolean {
  return error instanceof DarumaError && (error.code === "STORE_GONE" || error.code === "STORE_DAMAGED");
}

function notRenewed(runId: number): DarumaError {
  return new DarumaError("STORE_FAILED", `the lease of run ${runId} could not be renewed in time`);
}
