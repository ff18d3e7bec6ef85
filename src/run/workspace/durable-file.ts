import { type FileHandle, mkdir, open, rename, rm } from "node:fs/promises";
import { basename, dirname } from "node:path";

/** Mode of patches and states, which hold the user's sources and perhaps secrets that a step wrote. */
const PRIVATE_FILE = 0o600;
export const PRIVATE_FOLDER = 0o700;

/**
 * Writes a file completely or not at all, also through a power cut: it writes a temporary file, flushes it and renames
 * it. The temporary name is always the same, so the next try overwrites what a crash left behind.
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

/** Flushes the folder, so that a rename in it survives a power cut. */
export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, "r");
  try {
    await handle.sync();
  } finally {
    await handle.close();
  }
}
