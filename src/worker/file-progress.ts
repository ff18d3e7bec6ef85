import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";

/** The folder that git itself writes to, also for a mere look. */
const GIT_FOLDER = ".git";

/**
 * Whether anything has changed below a folder since the last look, files that a .gitignore names included.
 *
 * By looks at intervals, not by fs.watch: on Linux that is one inotify watch a folder, which misses what is written in a
 * folder before its watch is set, and of which a user has only so many. Not by `git status`: it knows nothing of ignored
 * build results. The newest ctime is enough: each write, rename, removal (by its folder) and chmod sets it, and no
 * program can set it back, as tar and `touch` do with the mtime.
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

/** One folder after another: a step's own work needs the disk, too. */
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
    // It has gone since it was listed.
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
