import { closeSync, existsSync, mkdirSync, openSync } from "node:fs";
import { dirname } from "node:path";
import { DarumaError } from "../../../core/errors/errors.js";
import { hasSchema, prepareSchema } from "../schema.js";
import { type Database, loadSqlite, primaryCode, SQLITE_BUSY } from "../sqlite-driver.js";
import { copyEmptyDatabase, FILE_MODE } from "./new-database.js";
import { makeThere, refuseSpecialFile } from "./read-only.js";

const BUSY_TIMEOUT_MS = 15_000;
const BUSY_PAUSE_MS = 10;
const CACHE_KIB = 8_192;
const FOLDER_MODE = 0o700;

/** Opens the file. The file, its folder and its tables are created if they are missing. */
export function openDatabase(file: string): Database {
  makeThere(file, () => mkdirSync(dirname(file), { recursive: true, mode: FOLDER_MODE }));
  refuseSpecialFile(file);
  // Created here, because SQLite would leave it readable by all. The -wal and -shm files take its mode.
  makeThere(file, () => {
    if (existsSync(file) || !copyEmptyDatabase(file)) closeSync(openSync(file, "a", FILE_MODE));
  });
  const db = new (loadSqlite().DatabaseSync)(file, { timeout: BUSY_TIMEOUT_MS });
  try {
    db.exec(`PRAGMA busy_timeout = ${BUSY_TIMEOUT_MS}`);
    db.exec(`PRAGMA cache_size = -${CACHE_KIB}`);
    db.exec("PRAGMA foreign_keys = ON");
    retryWhileBusy(() => prepareFile(db, file));
    db.exec("PRAGMA synchronous = FULL");
    return db;
  } catch (error) {
    db.close();
    throw error;
  }
}

function prepareFile(db: Database, file: string): void {
  hasSchema(db, file);
  const { journal_mode: mode } = db.prepare("PRAGMA journal_mode = WAL").get() as { journal_mode: string };
  if (mode !== "wal") {
    throw new DarumaError("STORE_FAILED", `${file}: its file system cannot hold a write-ahead log`, {
      hint: "Keep the database on a local disk.",
    });
  }
  prepareSchema(db, file);
}

/**
 * Repeats work while SQLite is busy. If two processes switch a new file to WAL at once, SQLite tells one of them "busy"
 * without waiting.
 */
function retryWhileBusy(work: () => void): void {
  const startedAt = performance.now();
  for (;;) {
    try {
      work();
      return;
    } catch (error) {
      if (primaryCode(error) !== SQLITE_BUSY || performance.now() - startedAt > BUSY_TIMEOUT_MS) throw error;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, BUSY_PAUSE_MS);
    }
  }
}
