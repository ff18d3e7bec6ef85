import { accessSync, constants, existsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { pathToFileURL } from "node:url";
import { DarumaError } from "../../../core/errors/errors.js";
import { hasSchema } from "../schema.js";
import {
  type Database,
  loadSqlite,
  primaryCode,
  SQLITE_CANTOPEN,
  SQLITE_READONLY,
} from "../sqlite-driver.js";

const BUSY_TIMEOUT_MS = 5_000;
/** Errors of a read-only disk, of permissions, and of a file with the immutable attribute. */
const REFUSALS: readonly unknown[] = ["EROFS", "EACCES", "EPERM"];

/** Whether this process can read but not write the database, because its disk, its folder or the file is read-only. */
export function isReadOnly(file: string): boolean {
  if (!existsSync(file) || refuses(file, constants.R_OK)) return false;
  // If they are missing, SQLite creates them in the folder.
  const hasLog = existsSync(`${file}-wal`) && existsSync(`${file}-shm`);
  return refuses(file, constants.W_OK) || (!hasLog && refuses(dirname(file), constants.W_OK));
}

/**
 * Makes the file or its folder. For a folder on a read-only disk, Node reports that it does not exist. Some file systems
 * say that a folder may be written, and then refuse it.
 */
export function makeThere(file: string, make: () => void): void {
  try {
    make();
  } catch (error) {
    let folder = dirname(file);
    while (!existsSync(folder)) folder = dirname(folder);
    throw isRefusal(error) || refuses(folder, constants.W_OK) ? notWritable(file) : error;
  }
}

function refuses(path: string, access: number): boolean {
  try {
    accessSync(path, access);
    return false;
  } catch (error) {
    return isRefusal(error);
  }
}

function isRefusal(error: unknown): boolean {
  return REFUSALS.includes((error as NodeJS.ErrnoException).code);
}

/**
 * Opens the database for reading only. SQLite reads the write-ahead log together with its index, and can create neither
 * here. Without a log the file is complete, and no process that can write it has it open.
 */
export function connectReadOnly(file: string, timeout = BUSY_TIMEOUT_MS): Database {
  const { DatabaseSync } = loadSqlite();
  if (existsSync(`${file}-wal`) && existsSync(`${file}-shm`))
    return new DatabaseSync(file, { readOnly: true, timeout });
  if ((statSync(`${file}-wal`, { throwIfNoEntry: false })?.size ?? 0) > 0)
    throw notWritable(file, "and what was written last is in its -wal file, which cannot be read alone");
  return new DatabaseSync(`${pathToFileURL(file).href}?immutable=1`, { readOnly: true, timeout });
}

/** Opens it for a store, which must have the tables of this version. */
export function openReadOnly(file: string): Database {
  try {
    const db = connectReadOnly(file);
    if (hasSchema(db, file)) return db;
    db.close();
    throw notWritable(file, "and has no tables yet");
  } catch (error) {
    const isRefused = primaryCode(error) === SQLITE_READONLY || primaryCode(error) === SQLITE_CANTOPEN;
    throw isRefused ? notWritable(file, "and not be read beside whoever writes it") : error;
  }
}

export function notWritable(file: string, more = ""): DarumaError {
  return new DarumaError("STORE_READ_ONLY", `${file} cannot be written${more === "" ? "" : `, ${more}`}`);
}

/**
 * Throws if the path is not a regular file: SQLite would wait forever for the other end of a pipe. The file is not
 * opened, because closing another descriptor of a database drops the locks that this process has on it.
 */
export function refuseSpecialFile(file: string): void {
  const found = statSync(file, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  throw new DarumaError("STORE_FAILED", `${file}: the database is not a regular file`, {
    hint: "Remove what lies there, or name another folder with --output-dir.",
  });
}
