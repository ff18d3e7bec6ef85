import { createRequire } from "node:module";
import type { DatabaseSync as DatabaseSyncClass } from "@photostructure/sqlite";
import { DarumaError } from "../../core/errors/errors.js";

export type Database = InstanceType<typeof DatabaseSyncClass>;
export type Statement = ReturnType<Database["prepare"]>;
/** What a column holds. */
export type Cell = string | number | null;

interface SqliteModule {
  readonly DatabaseSync: new (file: string, options?: { timeout?: number; readOnly?: boolean }) => Database;
}

/** In older versions, a checkpoint that meets another process's write could damage the file ("WAL-reset" defect). */
const OLDEST_SOUND_SQLITE = [3, 51, 3] as const;

/**
 * Loads Node's own SQLite if it is sound and stable (no flag, no experimental warning), else the package with the same
 * interface. An installed package is preferred to the copy in `dist/`, because two copies of SQLite in one process
 * break each other's locks. Call this in a thread of its own, since it intercepts that thread's warnings for a moment.
 */
export function loadSqlite(): SqliteModule {
  const require = createRequire(import.meta.url);
  if (isSound(process.versions.sqlite)) {
    const builtIn = loadWithoutWarning(() => require("node:sqlite") as SqliteModule);
    if (builtIn !== null) return builtIn;
  }
  return loadPackage((name) => require(name) as SqliteModule);
}

/**
 * Loads the package, or the copy `#sqlite`, whose path is in package.json. The copy has binaries only for the usual
 * machines.
 */
export function loadPackage(load: (name: string) => SqliteModule): SqliteModule {
  try {
    return load("@photostructure/sqlite");
  } catch {
    // The package is optional.
  }
  try {
    return load("#sqlite");
  } catch (error) {
    const machine = `${process.platform} on ${process.arch}`;
    const message = `Daruma brings no SQLite for ${machine}. To build it: npm install @photostructure/sqlite@1`;
    const hint = "Or use Node 24 or newer, which has its own, or PostgreSQL: --store postgres://...";
    throw new DarumaError("PACKAGE_MISSING", message, { hint, cause: error });
  }
}

export function isSound(version: string | undefined): boolean {
  if (version === undefined) return false;
  const parts = version.split(".").map(Number);
  for (const [place, wanted] of OLDEST_SOUND_SQLITE.entries()) {
    const part = parts[place] ?? 0;
    if (part !== wanted) return part > wanted;
  }
  return true;
}

/** Loads a module without printing warnings. Null if loading fails or causes a warning. */
export function loadWithoutWarning<Module>(load: () => Module): Module | null {
  const emitWarning = process.emitWarning;
  let warned = false;
  process.emitWarning = () => {
    warned = true;
  };
  try {
    const loaded = load();
    return warned ? null : loaded;
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}
