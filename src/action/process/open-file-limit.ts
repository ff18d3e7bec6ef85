import { readFileSync } from "node:fs";

/** The library alone opens about two hundred when it is loaded. */
export const MIN_OPEN_FILES = 256;
/** What this process needs beside its attempts: threads, database, launchers, listeners. */
const KEPT_FREE = 64;
/** Two logs and what comes and goes around them. */
const FILES_PER_ATTEMPT = 4;

/** How many files this process may open; null where the system does not tell. Node has raised it as far as it may. */
export function openFileLimit(): number | null {
  try {
    const limit = /^Max open files\s+(\d+)/m.exec(readFileSync("/proc/self/limits", "latin1"))?.[1];
    return limit === undefined ? null : Number(limit);
  } catch {
    return null;
  }
}

/** The attempts that are wanted at a time, or as many as there are files for. */
export function withinOpenFiles(attempts: number, limit = openFileLimit()): number {
  if (limit === null || attempts === 0) return attempts;
  return Math.max(1, Math.min(attempts, Math.floor((limit - KEPT_FREE) / FILES_PER_ATTEMPT)));
}
