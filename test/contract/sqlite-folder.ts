import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSqliteStore } from "../../src/store/sqlite/sqlite-store.js";
import type { Store } from "../../src/store/store.js";
import type { OpenedStore } from "./store-contract.js";

/** A folder for one test; whoever makes it removes it. */
export function makeFolder(): string {
  return mkdtempSync(join(tmpdir(), "daruma-store-"));
}

/** A real SQLite store in a folder of its own. */
export async function openInFreshFolder(): Promise<OpenedStore> {
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
    dispose: async () => {
      for (const store of opened) await store.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
