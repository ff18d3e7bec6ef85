import { DarumaError } from "../../core/errors/errors.js";
import type { Caller } from "../sqlite/caller.js";
import type { ThreadVerbs, Verb } from "../sqlite/protocol.js";
import { createReadVerbs } from "../sqlite/read-verbs.js";
import { prepareSchema } from "../sqlite/schema.js";
import { loadSqlite } from "../sqlite/sqlite-driver.js";
import { toStoreError } from "../sqlite/sqlite-errors.js";
import { Transactions } from "../sqlite/transactions.js";
import { createWriteVerbs } from "../sqlite/write-verbs.js";

const MEMORY = ":memory:";
const PLACE = "memory";

/** A database in memory, on the calling thread. Every answer is a settled promise. */
export class MemoryDatabase {
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
export class MemoryCaller implements Caller {
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
