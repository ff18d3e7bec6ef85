import { mkdirSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

type Environment = { readonly [name: string]: string | undefined };

const FOLDER_MODE = 0o700;
const OF_OTHERS = 0o077;

/**
 * The folder that keeps this user's compiled code between commands. Anybody who can write there controls the next
 * command, so the folder must belong to this user alone. Null if there is no such folder, or if DARUMA_NO_CACHE is set.
 */
export function cacheFolder(env: Environment = process.env): string | null {
  if (env.DARUMA_NO_CACHE) return null;
  try {
    const base = baseFolder(env);
    const folder = join(base, "daruma");
    if (!isOwn(statOf(base) ?? makeIn(base)) || !isOwn(statOf(folder) ?? makeIn(folder))) return null;
    return ((statOf(folder)?.mode ?? OF_OTHERS) & OF_OTHERS) === 0 ? folder : null;
  } catch {
    return null;
  }
}

function baseFolder({ XDG_CACHE_HOME: named }: Environment): string {
  if (named && isAbsolute(named)) return named;
  return join(homedir(), process.platform === "darwin" ? "Library/Caches" : ".cache");
}

/** Creates it only in a folder of this user: under sudo, nothing of root's must be left in somebody's home. */
function makeIn(folder: string): Stats | null {
  if (!isOwn(statOf(dirname(folder)))) return null;
  mkdirSync(folder, { mode: FOLDER_MODE });
  return statOf(folder);
}

function statOf(path: string): Stats | null {
  return statSync(path, { throwIfNoEntry: false }) ?? null;
}

function isOwn(stats: Stats | null): boolean {
  return stats?.isDirectory() === true && stats.uid === process.getuid?.();
}
