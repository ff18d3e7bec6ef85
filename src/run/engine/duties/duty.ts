import { DarumaError } from "../../../core/errors/errors.js";
import { DUTY_LEASE, type DutyName } from "../../../store/duties.js";
import type { Clock } from "../clock.js";
import type { LeaseKeeper } from "../lease-keeper.js";
import { Loop } from "../loop.js";

export interface DutyOptions {
  readonly name: DutyName;
  readonly clock: Pick<Clock, "after">;
  /** The keeper of a server's leases, which renews those of its runs and duties at once. */
  readonly leases: Pick<LeaseKeeper, "acquire" | "release">;
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
  private readonly loop: Loop;
  private fence: number | null = null;

  constructor(private readonly options: DutyOptions) {
    this.loop = new Loop(options.clock, { turn: () => this.workAll(), restMs: () => options.restMs });
  }

  start(): void {
    this.loop.wake();
  }

  async stop(): Promise<void> {
    await this.loop.stop();
    await this.options.leases.release(this.lease);
  }

  private get lease(): number {
    return DUTY_LEASE[this.options.name];
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
      return await this.options.leases.acquire(this.lease, () => {
        this.fence = null;
      });
    } catch (error) {
      if (error instanceof DarumaError && error.code === "RUN_OWNED") return null;
      throw error;
    }
  }
}
