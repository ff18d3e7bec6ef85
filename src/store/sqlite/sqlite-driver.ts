import { createRequire } from "node:module";
import type { DatabaseSync as DatabaseSyncClass } from "@photostructure/sqlite";
import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import { messageOf } from "../../core/text/message-of.js";
import type { Cells } from "./packed-rows.js";

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

/** Primary result codes: the lower byte of SQLite's extended ones. */
export const SQLITE_BUSY = 5;
const SQLITE_LOCKED = 6;
export const SQLITE_READONLY = 8;
const SQLITE_IOERR = 10;
const SQLITE_CORRUPT = 11;
const SQLITE_FULL = 13;
export const SQLITE_CANTOPEN = 14;
const SQLITE_NOTADB = 26;

const EXPLANATIONS: { readonly [code: number]: string } = {
  [SQLITE_BUSY]: "another process kept the database locked for too long",
  [SQLITE_LOCKED]: "the database is locked",
  [SQLITE_READONLY]: "the database cannot be written",
  [SQLITE_IOERR]: "the disk failed to read or write",
  [SQLITE_CORRUPT]: "the database is damaged",
  [SQLITE_FULL]: "the disk is full",
  [SQLITE_CANTOPEN]: "the database cannot be opened",
  [SQLITE_NOTADB]: "the file is not a database, or its beginning is damaged",
};

const DAMAGE: readonly (number | null)[] = [SQLITE_CORRUPT, SQLITE_NOTADB];

export function primaryCode(error: unknown): number | null {
  if (typeof error !== "object" || error === null || !("errcode" in error)) return null;
  return typeof error.errcode === "number" ? error.errcode & 0xff : null;
}

/** Converts an error into one that a user can act on, with the file's name. */
export function toStoreError(error: unknown, file: string): DarumaError {
  if (error instanceof DarumaError) return error;
  const detail = messageOf(error);
  const code = primaryCode(error);
  const explanation = code === null ? undefined : EXPLANATIONS[code];
  const what = explanation === undefined ? detail : `${explanation} (SQLite: ${detail})`;
  const told: ErrorCode = DAMAGE.includes(code) ? "STORE_DAMAGED" : "STORE_FAILED";
  return new DarumaError(told, `${file}: ${what}`, { cause: error });
}

/** Statements are prepared when they are first needed, and kept. */
export interface Statements {
  run(
    sql: string,
    ...cells: (Cell | Uint8Array)[]
  ): { readonly changes: number; readonly lastInsertRowid: number };
  /** Rows as lists of cells. The caller knows the types of its columns. */
  rows<Row extends Cells = Cells>(sql: string, ...cells: Cell[]): Row[];
  row<Row extends Cells = Cells>(sql: string, ...cells: Cell[]): Row | null;
}

export function keepStatements(db: Database): Statements {
  const kept = new Map<string, Statement>();
  const statement = (sql: string): Statement => {
    let prepared = kept.get(sql);
    if (prepared === undefined) {
      prepared = db.prepare(sql);
      prepared.setReturnArrays(true);
      kept.set(sql, prepared);
    }
    return prepared;
  };
  const rows = <Row extends Cells>(sql: string, ...cells: Cell[]) =>
    statement(sql).all(...cells) as unknown as Row[];
  return {
    run: (sql, ...cells) => {
      const { changes, lastInsertRowid } = statement(sql).run(...cells);
      return { changes: Number(changes), lastInsertRowid: Number(lastInsertRowid) };
    },
    rows,
    row: <Row extends Cells>(sql: string, ...cells: Cell[]) => rows<Row>(sql, ...cells)[0] ?? null,
  };
}
