import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDatabase } from "../../src/store/sqlite/file/open-database.js";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import type { Store } from "../../src/store/store.js";
import type { OpenedStore } from "./store-contract.js";

/** A folder for one test; whoever makes it removes it. */
export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "daruma-store-"));
}

/** A real SQLite store in a folder of its own. */
export async function openInFreshFolder(): Promise<OpenedStore & { empty(): void }> {
  const folder = makeFolder();
  const file = join(folder, "daruma.db");
  const opened: Store[] = [await openSqliteStore({ file })];
  return {
    store: opened[0] as Store,
    reopen: async () => {
      for (const store of opened) await store.close();
      const again = await openSqliteStore({ file });
      opened.push(again);
      return again;
    },
    empty: () => emptyDatabase(file),
    dispose: async () => {
      for (const store of opened) await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/** As it was when it was made, which takes longer: a thread starts and the tables are made. */
function emptyDatabase(file: string): void {
  const db = openDatabase(file);
  const tables = db.prepare(
    "SELECT name FROM sqlite_schema WHERE type = 'table' AND name NOT IN ('counter', 'schema_version')",
  );
  const names = (tables.all() as { name: string }[]).map(({ name }) => name);
  db.exec("PRAGMA foreign_keys = OFF");
  db.exec(
    `BEGIN; ${names.map((name) => `DELETE FROM ${name};`).join(" ")} UPDATE counter SET value = 0; COMMIT`,
  );
  db.close();
}
