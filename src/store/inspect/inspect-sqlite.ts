import { statSync } from "node:fs";
import { messageOf } from "../../core/text/message-of.js";
import { SCHEMA_VERSION } from "../schema-version.js";
import { connectReadOnly, isReadOnly, refuseSpecialFile } from "../sqlite/file/read-only.js";
import { type Database, loadSqlite, toStoreError } from "../sqlite/sqlite-driver.js";
import type { StoreInspection } from "./store-inspection.js";

/** A larger file takes minutes to check. */
const MAX_CHECKED_BYTES = 1024 ** 3;
const BUSY_TIMEOUT_MS = 5_000;
const MAX_PROBLEMS = 5;

/**
 * Inspects a database file, which is opened for reading only. An unreadable file is not reported as damaged: it throws.
 */
export function inspectDatabase(file: string, full: boolean): StoreInspection {
  const bytes = sizeOf(file);
  const found = {
    kind: "sqlite" as const,
    place: file,
    newestVersion: SCHEMA_VERSION,
    bytes,
    walBytes: sizeOf(`${file}-wal`),
    server: null,
  };
  const checked = full || (bytes ?? 0) <= MAX_CHECKED_BYTES;
  let db: Database | null = null;
  try {
    refuseSpecialFile(file);
    db = isReadOnly(file)
      ? connectReadOnly(file, BUSY_TIMEOUT_MS)
      : new (loadSqlite().DatabaseSync)(file, { readOnly: true, timeout: BUSY_TIMEOUT_MS });
    const version = versionOf(db);
    return { ...found, version, checked, problems: checked ? problemsOf(db, full) : [] };
  } catch (error) {
    const told = toStoreError(error, file);
    if (told.code !== "STORE_DAMAGED") throw told;
    return { ...found, version: null, checked: true, problems: [messageOf(error)] };
  } finally {
    db?.close();
  }
}

/** The schema version; null if there are no tables. */
function versionOf(db: Database): number | null {
  const table = db.prepare("SELECT name FROM sqlite_schema WHERE name = 'schema_version'").get();
  if (table === undefined) return null;
  const row = db.prepare("SELECT max(version) AS version FROM schema_version").get() as { version: number };
  return row.version;
}

function problemsOf(db: Database, full: boolean): string[] {
  const check = full ? "integrity_check" : "quick_check";
  const rows = db.prepare(`PRAGMA ${check}(${MAX_PROBLEMS})`).all() as { [column: string]: unknown }[];
  const texts = rows.map((row) => String(Object.values(row)[0]));
  return texts.length === 1 && texts[0] === "ok" ? [] : texts;
}

function sizeOf(file: string): number | null {
  return statSync(file, { throwIfNoEntry: false })?.size ?? null;
}
