import { DarumaError } from "../../core/errors/errors.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import type { Clock } from "../clock.js";
import { LeaseKeeper } from "../lease-keeper.js";
import { Loop } from "../loop.js";

export interface DutyOptions {
  /** Its number among the leases. */
  readonly lease: number;
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  readonly leaseMs?: number;
  /** How long to rest if nothing is left to do, or another process does it. */
  readonly restMs: number;
  /** Does one piece of work, written under the token. Returns true if there is more to do at once. */
  readonly work: (fence: number) => Promise<boolean>;
}

/**
 * Work that one process does for all that share a store. The process that gets the lease continues until it stops. The
 * token prevents writes by one that has lost the lease without noticing.
 */
export class Duty {
  private readonly leases: LeaseKeeper;
  private readonly loop: Loop;
  private fence: number | null = null;

  constructor(private readonly options: DutyOptions) {
    const { store, clock, owner, isDead, leaseMs } = options;
    this.leases = new LeaseKeeper(store, clock, owner, isDead, leaseMs);
    this.loop = new Loop(clock, { turn: () => this.workAll(), restMs: () => options.restMs });
  }

  start(): void {
    this.loop.wake();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await this.leases.release(this.options.lease);
    this.leases.stop();
  }

  private async workAll(): Promise<void> {
    for (;;) {
      this.fence ??= await this.take();
      if (this.fence === null || this.loop.isStopped) return;
      if (!(await this.options.work(this.fence))) return;
    }
  }

  /** Takes the lease; null if somebody else has it. */
  private async take(): Promise<number | null> {
    try {
      return await this.leases.acquire(this.options.lease, () => {
        this.fence = null;
      });
    } catch (error) {
      if (error instanceof DarumaError && error.code === "RUN_OWNED") return null;
      throw error;
    }
  }
}
