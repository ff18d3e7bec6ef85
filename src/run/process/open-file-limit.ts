import { readFileSync } from "node:fs";

/** The library alone opens about two hundred when it is loaded. */
export const MIN_OPEN_FILES = 256;
/** What this process needs beside its attempts: threads, database, launchers, listeners. */
const KEPT_FREE = 64;
/** Two logs and what comes and goes around them. */
const FILES_PER_ATTEMPT = 4;
/** The connection itself, and the log or artifact that is read for it. */
const FILES_PER_CONNECTION = 2;

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

export interface ServerShares {
  readonly attempts: number;
  /** 0 means no limit. */
  readonly connections: number;
}

/**
 * How many connections and attempts a server may have at a time. Clients can open connections without a token, so these
 * must leave enough for runs: attempts have at most half of the files, connections what they leave.
 */
export function sharesOfServer(wanted: ServerShares, limit = openFileLimit()): ServerShares {
  if (limit === null) return wanted;
  const attempts = withinOpenFiles(wanted.attempts, Math.floor((limit + KEPT_FREE) / 2));
  const left = Math.floor((limit - KEPT_FREE - attempts * FILES_PER_ATTEMPT) / FILES_PER_CONNECTION);
  const connections = wanted.connections === 0 ? left : Math.min(wanted.connections, left);
  return { attempts, connections: Math.max(1, connections) };
}
