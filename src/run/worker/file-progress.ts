import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The folder that git itself writes to, even when it only reads the tree. */
const GIT_FOLDER = ".git";

/**
 * Whether anything has changed in a folder since the last check, including ignored files.
 *
 * It polls instead of using fs.watch, which on Linux needs one inotify watch per folder, misses what is written in a
 * folder before its watch is set, and is limited per user. `git status` does not see ignored build results. The newest
 * ctime suffices: each write, rename, removal (by its folder) and chmod sets it, and no program can set it back, as tar
 * and `touch` do with the mtime.
 */
export class FileProgress {
  private newest: number;

  private constructor(
    private readonly folder: string,
    newest: number,
  ) {
    this.newest = newest;
  }

  static async begin(folder: string): Promise<FileProgress> {
    return new FileProgress(folder, await newestChange(folder));
  }

  async hasChanged(): Promise<boolean> {
    const newest = await newestChange(this.folder);
    const changed = newest > this.newest;
    this.newest = Math.max(newest, this.newest);
    return changed;
  }
}

/**
 * The newest change below a folder. Folders are read one after the other, because the step itself needs the disk, too.
 */
async function newestChange(folder: string): Promise<number> {
  let newest = await changedAt(folder);
  const folders = [folder];
  for (let at = folders.pop(); at !== undefined; at = folders.pop()) {
    const paths: string[] = [];
    for (const entry of await entriesOf(at)) {
      if (entry.name === GIT_FOLDER) continue;
      const path = join(at, entry.name);
      paths.push(path);
      if (entry.isDirectory()) folders.push(path);
    }
    for (const time of await Promise.all(paths.map(changedAt))) newest = Math.max(newest, time);
  }
  return newest;
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    return await readdir(folder, { withFileTypes: true });
  } catch {
    // It was removed after it was listed.
    return [];
  }
}

async function changedAt(path: string): Promise<number> {
  try {
    return (await lstat(path)).ctimeMs;
  } catch {
    return 0;
  }
}
