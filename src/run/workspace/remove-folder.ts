import { chmod, lstat, readdir, rm } from "node:fs/promises";
import { join } from "node:path";

const OWNER_ALL = 0o700;
/** Removal is repeated because an ending process may still create files. */
const REMOVE_TRIES = 5;
const REMOVE_PAUSE_MS = 50;

/** Removes a folder, even one without write permission such as the module caches that some tools leave. */
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

/** Makes folders writable. Errors are ignored: the next removal reports what still cannot be removed. */
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
