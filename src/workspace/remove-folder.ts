import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const OWNER_ALL = 0o700;
/** A process that is just ending may still put files there. */
const REMOVE_TRIES = 5;
const REMOVE_PAUSE_MS = 50;

/** Also folders without write permission, such as the module caches that some tools leave. */
export async function removeFolder(path: string): Promise<void> {
  const options = { recursive: true, force: true, maxRetries: REMOVE_TRIES, retryDelay: REMOVE_PAUSE_MS };
  try {
    await rm(path, options);
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code !== "EACCES" && code !== "EPERM") throw error;
    await openFolders(path);
    await rm(path, options);
  }
}

/** What cannot be opened, or is gone already, the next removal will speak of or not miss. */
async function openFolders(path: string): Promise<void> {
  try {
    if (!(await lstat(path)).isDirectory()) return;
    await chmod(path, OWNER_ALL);
    for (const entry of await readdir(path, { withFileTypes: true }))
      if (entry.isDirectory()) await openFolders(join(path, entry.name));
  } catch {
    return;
  }
}
