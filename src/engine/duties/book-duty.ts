import { bookKey, sumRows } from "../../core/book/book-entry.js";
import type { BookRow } from "../../core/book/book-row.js";
import { replay } from "../../core/decide/decision.js";
import { DarumaError } from "../../core/errors/errors.js";
import { newRun } from "../../core/model/new-run.js";
import type { BookStore } from "../../store/book-rows.js";
import { DUTY_LEASE } from "../../store/duties.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import { type Clock, systemClock } from "../clock.js";
import { LeaseKeeper } from "../lease-keeper.js";
import { readDefinition, readPages } from "../load-run.js";
import { Duty } from "./duty.js";

const REST_MS = 2_000;
const ROWS_AT_ONCE = 5_000;
const RUNS_AT_ONCE = 10;

/** Rolls up what runs have told the failure book, and reads the logs of runs that are older than the book. */
export function bookDuty(options: {
  readonly store: Store;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  readonly leaseMs?: number;
}): Duty {
  const work = (fence: number): Promise<boolean> => keepBook(options.store, fence);
  return new Duty({ ...options, lease: DUTY_LEASE.book, restMs: REST_MS, work });
}

/** One step. True: there is more to do. */
async function keepBook(store: Store, fence: number): Promise<boolean> {
  const { runIds } = await store.listBacklog(RUNS_AT_ONCE);
  for (const runId of runIds)
    if (!(await store.backfill({ fence, runId, rows: await rowsOfLog(store, runId) }))) return false;
  const rolled = await rollUpSome(store, fence);
  return runIds.length > 0 || rolled === ROWS_AT_ONCE;
}

async function rollUpSome(store: BookStore, fence: number): Promise<number> {
  const rows = await store.listUnrolled(null, ROWS_AT_ONCE);
  if (rows.length === 0) return 0;
  const keys = [...new Map(rows.map((row) => [bookKey(row), row])).values()];
  const present = new Map((await store.readEntries(keys)).map((entry) => [bookKey(entry), entry]));
  const entries = [...sumRows(present, rows).values()];
  return (await store.rollUp({ fence, entries, rows })) ? rows.length : 0;
}

/** What the log of a run tells the book; the same rows that its engine writes. A log that cannot be read tells nothing. */
export async function rowsOfLog(store: Store, runId: number): Promise<BookRow[]> {
  const rows: BookRow[] = [];
  try {
    const [first] = await store.readEvents(runId, { limit: 1 });
    if (first === undefined || first.event.type !== "run.created") return [];
    const definition = await readDefinition(store, runId, first.event.definition_hash);
    const run = newRun(runId, definition, first.event, first.at);
    for await (const page of readPages(store, runId, { afterSeq: 0 })) {
      replay(run, page);
      rows.push(...run.book.unwritten.splice(0));
    }
    return rows;
  } catch (error) {
    if (error instanceof DarumaError && error.code !== "STORE_DAMAGED") throw error;
    return rows;
  }
}

/** For a command line that looks into a store where perhaps no server does it: as far as it gets in that time. */
export async function keepBookFor(
  maxMs: number,
  {
    store,
    owner,
    isDead,
    work = keepBook,
  }: {
    readonly store: Store;
    readonly owner: LeaseOwner;
    readonly isDead: (owner: LeaseOwner) => boolean;
    readonly work?: (store: Store, fence: number) => Promise<boolean>;
  },
): Promise<void> {
  const until = systemClock.elapsed() + maxMs;
  const leases = new LeaseKeeper(store, systemClock, owner, isDead);
  try {
    const fence = await leases.acquire(DUTY_LEASE.book, () => {});
    while ((await work(store, fence)) && systemClock.elapsed() < until);
  } catch (error) {
    // Somebody else does it; what is not rolled up yet is added when the book is read.
    if (!(error instanceof DarumaError && error.code === "RUN_OWNED")) throw error;
  } finally {
    await leases.release(DUTY_LEASE.book);
    leases.stop();
  }
}

/** For a process that has written rows and ends now: whoever reads the book next need not do it. Others' logs are left alone. */
export async function rollUpFor(
  maxMs: number,
  ports: Omit<Parameters<typeof keepBookFor>[1], "work">,
): Promise<void> {
  const work = async (store: Store, fence: number): Promise<boolean> =>
    (await rollUpSome(store, fence)) === ROWS_AT_ONCE;
  await keepBookFor(maxMs, { ...ports, work });
}
