import { SCHEMA_VERSION } from "../schema-version.js";
import { createStore } from "../sqlite/store-verbs.js";
import type { Append, Store } from "../store.js";
import { MemoryCaller, MemoryDatabase } from "./memory-database.js";

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
