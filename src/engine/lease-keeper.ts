import { DarumaError } from "../core/errors.js";
import type { LeaseOwner, Store } from "../store/store.js";
import type { Clock } from "./clock.js";

/** How long a silent owner on another host keeps its runs. */
export const DEFAULT_LEASE_MS = 30_000;

interface Held {
  readonly fence: number;
  readonly lost: (error: unknown) => void;
  expiresAt: number;
}

/** Takes runs and keeps them by renewing their leases; says so when one is gone. */
export class LeaseKeeper {
  private readonly held = new Map<number, Held>();
  private cancelTimer: (() => void) | null = null;

  constructor(
    private readonly store: Store,
    private readonly clock: Clock,
    private readonly owner: LeaseOwner,
    private readonly isDead: (owner: LeaseOwner) => boolean,
    private readonly leaseMs = DEFAULT_LEASE_MS,
  ) {}

  /** The fencing token under which the run may be written. A dead owner on this host is replaced at once. */
  async acquire(runId: number, lost: (error: unknown) => void): Promise<number> {
    const first = await this.request(runId);
    if (first.granted) return this.hold(runId, first.fence, lost);
    const { lease } = first;
    if (this.isDead(lease.owner)) {
      const second = await this.request(runId, lease.fence);
      if (second.granted) return this.hold(runId, second.fence, lost);
    }
    const { host, pid } = lease.owner;
    throw new DarumaError("RUN_OWNED", `run ${runId} is being run by process ${pid} on ${host}`);
  }

  private request(runId: number, evenFrom?: number): ReturnType<Store["acquireLease"]> {
    const now = this.clock.now();
    const request = { runId, owner: this.owner, now, expiresAt: now + this.leaseMs };
    return this.store.acquireLease(evenFrom === undefined ? request : { ...request, evenFrom });
  }

  /** Keep a lease that was granted already. */
  hold(runId: number, fence: number, lost: (error: unknown) => void): number {
    this.held.set(runId, { fence, lost, expiresAt: this.clock.now() + this.leaseMs });
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
    this.cancelTimer?.();
    this.cancelTimer = null;
  }

  private schedule(): void {
    if (this.cancelTimer !== null) return;
    this.cancelTimer = this.clock.setTimer(this.clock.now() + this.leaseMs / 3, () => {
      this.cancelTimer = null;
      void this.renewAll();
    });
  }

  private async renewAll(): Promise<void> {
    for (const [runId, held] of [...this.held]) {
      const { fence, lost } = held;
      try {
        const expiresAt = this.clock.now() + this.leaseMs;
        const kept = await this.store.renewLease(runId, fence, expiresAt);
        if (kept) held.expiresAt = expiresAt;
        if (kept || this.held.get(runId)?.fence !== fence) continue;
        this.forget(runId);
        lost(new DarumaError("LEASE_LOST", `run ${runId} was taken over by another engine`));
      } catch (error) {
        // A store that fails for a moment costs nothing while the lease still has time for another try.
        if (this.clock.now() + this.leaseMs / 3 < held.expiresAt) continue;
        this.forget(runId);
        lost(error);
      }
    }
    if (this.held.size > 0) this.schedule();
  }
}
