import { mkdirSync, type Stats, statSync } from "node:fs";
import { homedir } from "node:os";
import { dirname, isAbsolute, join } from "node:path";

type Environment = { readonly [name: string]: string | undefined };

const FOLDER_MODE = 0o700;
const OF_OTHERS = 0o077;

/**
 * Where this user keeps compiled code between two commands. Whoever can write there decides what the next command does,
 * so it must belong to this user alone; null where no such folder can be had, or where DARUMA_NO_CACHE is set.
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

/** Only in a folder of this user: under sudo, nothing of root's is left in another's home. */
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
