import { closeSync, fsyncSync, linkSync, openSync, readFileSync, rmSync, writeSync } from "node:fs";
import { threadId } from "node:worker_threads";

export const FILE_MODE = 0o600;
/** An empty database with all tables, which the build creates beside this code. */
export const EMPTY_DATABASE = "empty.db";

/**
 * Creates the file as a copy of the one from the build: making all tables takes 5 ms, plus five more waits for the
 * disk. It gets its name only when it is complete and on the disk, so nobody finds half of it. Returns false if a file
 * exists already, or if this is not possible: without hard links, or if the build is missing.
 */
export function copyEmptyDatabase(
  file: string,
  source: URL = new URL(EMPTY_DATABASE, import.meta.url),
): boolean {
  const unfinished = `${file}.${process.pid}-${threadId}.new`;
  try {
    writeWhole(unfinished, readFileSync(source));
    linkSync(unfinished, file);
    return true;
  } catch {
    return false;
  } finally {
    rmSync(unfinished, { force: true });
  }
}

function writeWhole(file: string, bytes: Buffer): void {
  const opened = openSync(file, "wx", FILE_MODE);
  try {
    for (let at = 0; at < bytes.length; ) at += writeSync(opened, bytes, at);
    fsyncSync(opened);
  } finally {
    closeSync(opened);
  }
}
