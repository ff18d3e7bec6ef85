import { resolve } from "node:path";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import { isPostgresUrl } from "../../store/postgres/postgres-address.js";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.js";
import type { Store } from "../../store/store.js";
import { databaseFile } from "./existing-store.js";

/** `memory`, the address of a PostgreSQL database, a SQLite file, or nothing: `daruma.db` in the output folder. */
export async function openStore(store: string | Store | undefined, outputDir: string): Promise<Store> {
  if (typeof store === "object") return store;
  if (store === "memory") return createMemoryStore();
  if (store !== undefined && isPostgresUrl(store)) {
    // Its driver is loaded by those who use it.
    const { openPostgresStore } = await import("../../store/postgres/postgres-store.js");
    return openPostgresStore({ url: store });
  }
  return openSqliteStore({ file: store === undefined ? databaseFile(outputDir) : resolve(store) });
}
