import { randomBytes } from "node:crypto";
import { ChangeListeners } from "../change-listeners.js";
import { createColdStore } from "../cold-store.js";
import { inspectSchema } from "../inspect/inspect-postgres.js";
import type { Store } from "../store.js";
import { refuseMalformedAppend, UNFINISHED_RUN_STATUSES } from "../write-rules.js";
import { Announcements, ChangeFeed } from "./announcements.js";
import { createColdVerbs, dialectOf } from "./cold-verbs.js";
import { CommitQueue } from "./commit/commit-queue.js";
import type { Session } from "./connection-pool.js";
import { Database, LONG_DEADLINE_MS, toArrayLiteral } from "./database.js";
import { createLeaseVerbs, createWaitingVerbs, type LeaseClock } from "./lease-verbs.js";
import { parseAddress } from "./postgres-address.js";
import { createOutboxVerbs, createRunReads } from "./row-verbs.js";
import { prepareSchema } from "./schema.js";
import { createSlotVerbs } from "./slots/slot-verbs.js";

const DEFAULT_MAX_CONNECTIONS = 8;
const SENDER_BYTES = 6;

export interface PostgresOptions {
  readonly url: string;
  /** The schema that contains everything, so that several stores fit in one database. By default `daruma`. */
  readonly schema?: string;
  /** Connections for everything except commits and notifications, which have one each. */
  readonly maxConnections?: number;
  /** The clock for leases: `database` unless a test chooses the times. */
  readonly leaseClock?: LeaseClock;
  /** Limit for all deadlines, for tests. */
  readonly maxDeadlineMs?: number;
}

/** Opens a database as a store. The schema and its tables are created if they are missing. */
export async function openPostgresStore(options: PostgresOptions): Promise<Store> {
  const address = parseAddress(options.url, options.schema);
  const db = new Database(address, options.maxConnections ?? DEFAULT_MAX_CONNECTIONS, options.maxDeadlineMs);
  try {
    await prepareSchema(db);
  } catch (error) {
    await db.close();
    throw error;
  }
  return createStore(db, options.leaseClock ?? "database");
}

function createStore(db: Database, clock: LeaseClock): Store {
  const sender = randomBytes(SENDER_BYTES).toString("hex");
  const listeners = new ChangeListeners();
  const feed = new ChangeFeed(db, listeners, sender);
  const tellRest = (session: Session): Promise<void> => announcements.tellRest(session);
  // A failed announcement is not repeated. A waiting caller also checks from time to time.
  const announcements = new Announcements(sender, () => void db.work(tellRest).catch(() => {}));
  const dialect = dialectOf(clock);
  const queue = new CommitQueue(db, announcements);
  return {
    async reserveRunId() {
      const [reserved] = await db.rows<{ id: number }>("SELECT nextval('run_id') AS id");
      return reserved?.id ?? 0;
    },
    async commit(appends) {
      for (const append of appends) refuseMalformedAppend(append);
      await queue.commit(appends);
      listeners.tellCommit(appends);
    },
    deleteRun: (runId) =>
      db.work((session, isRepeated) => deleteRun(session, runId, isRepeated), {
        deadlineMs: LONG_DEADLINE_MS,
      }),
    ...createColdStore(createColdVerbs(db, dialect, sender), listeners),
    ...createRunReads(db, dialect),
    ...createLeaseVerbs(db, listeners, { sender, clock }),
    ...createWaitingVerbs(db, clock),
    ...createSlotVerbs(db, clock),
    ...createOutboxVerbs(db, clock),
    onChange: (listener) => feed.add(listener),
    inspect: () => inspectSchema(db),
    async ping() {
      // A write, because a full disk or a standby server still answers reads.
      await db.rows("UPDATE schema_version SET version = version");
    },
    close: () => db.close(tellRest),
  };
}

/** The rule of `mayDeleteRun` in SQL, because it must hold for the run when it is deleted. */
async function deleteRun(session: Session, runId: number, isRepeated: boolean): Promise<boolean> {
  const [deleted] = await session.rows<{ is_gone: boolean | null }>(
    "SELECT delete_run($1, $2::text[]) AS is_gone",
    ...[runId, toArrayLiteral(UNFINISHED_RUN_STATUSES)],
  );
  // If the run is missing at the second try, the first one has deleted it.
  return deleted?.is_gone ?? isRepeated;
}
