import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** Patches and states hold the user's sources, and perhaps secrets that a step wrote: nobody else may read them. */
const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/**
 * All of the file or nothing of it, also after a power cut: a temporary file, flushed, then renamed. The temporary
 * name is always the same, so that what a crash left behind is overwritten by the next try.
 */
export async function writeDurably(
  path: string,
  write: (file: FileHandle) => Promise<unknown>,
): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: PRIVATE_FOLDER });
  const temporary = `${dirname(path)}/.${basename(path)}.tmp`;
  try {
    await rm(temporary, { force: true });
    const file = await open(temporary, "wx", PRIVATE_FILE);
    try {
      await write(file);
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(temporary, path);
  } catch (error) {
    await rm(temporary, { force: true });
    throw error;
  }
  await syncFolder(dirname(path));
}

/** Makes a rename in the folder last. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
