import { bookKey, sumRows } from "../../../core/book/book.js";
import { DarumaError } from "../../../core/errors/errors.js";
import type { BookStore } from "../../../store/book-rows.js";
import { DUTY_LEASE, type DutyName } from "../../../store/lease-rules.js";
import type { LeaseOwner, Store } from "../../../store/store.js";
import { type Clock, systemClock } from "../clock.js";
import { LeaseKeeper } from "../lease-keeper.js";
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

const REST_MS = 2_000;
const ROWS_AT_ONCE = 5_000;

/** Rolls up the failure rows that runs have written to the failure book. */
export function bookDuty(store: BookStore, { clock, leases }: Pick<DutyOptions, "clock" | "leases">): Duty {
  const work = (fence: number): Promise<boolean> => rollUpSome(store, fence);
  return new Duty({ clock, leases, name: "book", restMs: REST_MS, work });
}

/** Does one step. Returns true if there is more to do. */
async function rollUpSome(store: BookStore, fence: number): Promise<boolean> {
  const rows = await store.listUnrolled(null, ROWS_AT_ONCE);
  if (rows.length === 0) return false;
  const keys = [...new Map(rows.map((row) => [bookKey(row), row])).values()];
  const present = new Map((await store.readEntries(keys)).map((entry) => [bookKey(entry), entry]));
  const entries = [...sumRows(present, rows).values()];
  return (await store.rollUp({ fence, entries, rows })) && rows.length === ROWS_AT_ONCE;
}

/**
 * Rolls up for at most this time, for a command line: one that reads a store that perhaps no server maintains, or one
 * that has written rows and is about to end.
 */
export async function rollUpFor(
  maxMs: number,
  {
    store,
    owner,
    isDead,
  }: {
    readonly store: Store;
    readonly owner: LeaseOwner;
    readonly isDead: (owner: LeaseOwner) => boolean;
  },
): Promise<void> {
  const until = systemClock.elapsed() + maxMs;
  const leases = new LeaseKeeper(store, systemClock, owner, isDead);
  try {
    const fence = await leases.acquire(DUTY_LEASE.book, () => {});
    while ((await rollUpSome(store, fence)) && systemClock.elapsed() < until);
  } catch (error) {
    // Another process does it. What is not rolled up yet is added whenever the book is read.
    if (!(error instanceof DarumaError && error.code === "RUN_OWNED")) throw error;
  } finally {
    await leases.release(DUTY_LEASE.book);
    leases.stop();
  }
}
