import { DarumaError } from "../../core/errors/errors.js";
import { SCHEMA_VERSION } from "../schema-version.js";
import type { Caller, ThreadVerbs, Verb } from "../sqlite/protocol.js";
import { createReadVerbs } from "../sqlite/read-verbs.js";
import { prepareSchema } from "../sqlite/schema.js";
import { loadSqlite, toStoreError } from "../sqlite/sqlite-driver.js";
import { createStore } from "../sqlite/store-verbs.js";
import { Transactions } from "../sqlite/transactions.js";
import { createWriteVerbs } from "../sqlite/write-verbs.js";
import type { Append, Store } from "../store.js";

const MEMORY = ":memory:";
const PLACE = "memory";

/** A database in memory, on the calling thread. Every answer is a settled promise. */
class MemoryDatabase {
  readonly #db = new (loadSqlite().DatabaseSync)(MEMORY);
  readonly #reads: ReturnType<typeof createReadVerbs>;
  readonly #writes: ReturnType<typeof createWriteVerbs>;
  readonly #transactions: Transactions;

  /** Without foreign keys, a run may be stored without the workflow and handlers that it refers to. */
  constructor({ hasKeys = true }: { readonly hasKeys?: boolean } = {}) {
    prepareSchema(this.#db, PLACE);
    this.#db.exec(`PRAGMA foreign_keys = ${hasKeys ? "ON" : "OFF"}`);
    this.#reads = createReadVerbs(this.#db);
    this.#writes = createWriteVerbs(this.#db);
    this.#transactions = new Transactions(this.#db);
  }

  perform(verb: Verb, args: readonly unknown[]): unknown {
    try {
      if (verb in this.#reads) return callOn(this.#reads, verb, args);
      const [outcome] = this.#transactions.runAll([() => callOn(this.#writes, verb, args)]);
      if (outcome === undefined || "error" in outcome) throw outcome?.error;
      return outcome.value;
    } catch (error) {
      throw toStoreError(error, PLACE);
    }
  }
}

function callOn(verbs: object, verb: Verb, args: readonly unknown[]): unknown {
  return (verbs as Record<Verb, (...args: readonly unknown[]) => unknown>)[verb](...args);
}

/** One handle on the database. Closing it leaves other handles open. */
class MemoryCaller implements Caller {
  readonly file = PLACE;
  #isClosed = false;

  constructor(private readonly database: MemoryDatabase) {}

  async call<V extends Verb>(
    verb: V,
    ...args: Parameters<ThreadVerbs[V]>
  ): Promise<ReturnType<ThreadVerbs[V]>> {
    if (this.#isClosed) throw new DarumaError("STORE_FAILED", "the store is closed");
    return this.database.perform(verb, args) as ReturnType<ThreadVerbs[V]>;
  }

  callWith<V extends Verb>(_queues: unknown, verb: V, ...args: Parameters<ThreadVerbs[V]>) {
    return this.call(verb, ...args);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
  }
}

export interface MemoryStore extends Store {
  /**
   * Makes the next commit fail with `error`. With `applied` it is written all the same, and only the answer is lost.
   */
  failNextCommit(error: Error, how: { readonly applied: boolean }): void;
  /** Opens another handle on the same data, like a process that opens the same file again. */
  reopen(): MemoryStore;
}

/** Makes a SQLite store in memory on the calling thread. Nothing waits, so simulations can be replayed. */
export function createMemoryStore(how: { readonly hasKeys?: boolean } = {}): MemoryStore {
  return createHandle(new MemoryDatabase(how));
}

const INSPECTION = {
  ...{
    kind: "memory" as const,
    place: "memory",
    version: SCHEMA_VERSION,
    newestVersion: SCHEMA_VERSION,
    problems: [],
    checked: true,
  },
  ...{ bytes: null, walBytes: null, server: null },
} as const;

function createHandle(database: MemoryDatabase): MemoryStore {
  const store = createStore(new MemoryCaller(database), async () => INSPECTION);
  let plannedFailure: { readonly error: Error; readonly applied: boolean } | null = null;
  return {
    ...store,
    failNextCommit: (error, { applied }) => {
      plannedFailure = { error, applied };
    },
    reopen: () => createHandle(database),
    async commit(appends: readonly Append[]) {
      const planned = plannedFailure;
      plannedFailure = null;
      if (planned === null) return store.commit(appends);
      if (planned.applied) await createHandle(database).commit(appends);
      throw planned.error;
    },
  };
}
