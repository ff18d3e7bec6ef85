import { statSync } from "node:fs";
import { join, resolve } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { openSqliteStore } from "../../store/sqlite/sqlite-store.js";
import type { Store } from "../../store/store.js";

export function databaseFile(outputDir: string): string {
  return join(outputDir, "daruma.db");
}

/** False only where nothing is there. A folder that may not be looked into is no empty one. */
export function isDatabaseThere(file: string): boolean {
  try {
    statSync(file);
    return true;
  } catch (error) {
    const { code, message } = error as NodeJS.ErrnoException;
    if (code === "ENOENT") return false;
    throw new DarumaError("STORE_FAILED", `${file}: the database cannot be found (${message})`, {
      hint: "Check the path, and that you may read its folders.",
      cause: error,
    });
  }
}

/** The database of runs that are there already; refuses to make a new, empty one. */
export function existingDatabase(outputDir: string): string {
  const file = databaseFile(resolve(outputDir));
  if (!isDatabaseThere(file))
    throw new DarumaError("RUN_NOT_FOUND", `there are no runs in ${resolve(outputDir)}`, {
      hint: "Start one with `daruma run FILE`, or name the folder with --output-dir.",
    });
  return file;
}

/** Opens an existing store for commands that only read. */
export async function openExistingStore(outputDir: string): Promise<Store> {
  return openSqliteStore({ file: existingDatabase(outputDir) });
}
