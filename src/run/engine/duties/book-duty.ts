import { bookKey, sumRows } from "../../../core/book/book-entry.js";
import { DarumaError } from "../../../core/errors/errors.js";
import type { BookStore } from "../../../store/book-rows.js";
import { DUTY_LEASE } from "../../../store/duties.js";
import type { LeaseOwner, Store } from "../../../store/store.js";
import { systemClock } from "../clock.js";
import { LeaseKeeper } from "../lease-keeper.js";
import { Duty, type DutyOptions } from "./duty.js";

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
