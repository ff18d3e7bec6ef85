import type { Dirent } from "node:fs";
import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import {
  logFilesOf,
  logFolder,
  outputFolder,
  runFolder,
  workFolderOf,
  workFolders,
} from "../../run/worker/attempt-paths.js";
import { removedNotes } from "./removed-files.js";

export interface RunBytes {
  readonly logs: number;
  readonly artifacts: number;
}

const NOTHING: RunBytes = { logs: 0, artifacts: 0 };
const MAX_REMEMBERED = 200_000;

/** How much room the files of runs take in one output folder. */
export class RunFiles {
  /** Files of a run that is over do not change; one that was taken up again ends at another time. */
  private readonly known = new Map<number, { readonly finishedAt: number; readonly bytes: RunBytes }>();

  constructor(private readonly outputDir: string) {}

  async measure(
    runs: readonly { readonly id: number; readonly finishedAt: number }[],
  ): Promise<ReadonlyMap<number, RunBytes>> {
    const found = new Map<number, RunBytes>();
    const unknown = new Set<number>();
    for (const { id, finishedAt } of runs) {
      const known = this.known.get(id);
      if (known?.finishedAt === finishedAt) found.set(id, known.bytes);
      else unknown.add(id);
    }
    const logs = await this.logBytes(unknown);
    for (const { id, finishedAt } of runs) {
      if (!unknown.has(id)) continue;
      const artifacts =
        (await bytesIn(runFolder(this.outputDir, id))) + (await bytesIn(workFolderOf(this.outputDir, id)));
      const bytes = { logs: logs.get(id) ?? 0, artifacts };
      found.set(id, bytes);
      if (this.known.size < MAX_REMEMBERED) this.known.set(id, { finishedAt, bytes });
    }
    return found;
  }

  /** Forgets sizes of removed files. They are measured again if needed. */
  forget(runs: Iterable<number>): void {
    for (const id of runs) this.known.delete(id);
  }

  private async logBytes(runs: ReadonlySet<number>): Promise<ReadonlyMap<number, number>> {
    const found = new Map<number, number>();
    if (runs.size === 0) return found;
    for (const file of logFilesOf(this.outputDir, runs)) {
      const id = runOfLog(file);
      found.set(id, (found.get(id) ?? 0) + (await bytesOf(file)));
    }
    return found;
  }
}

export const bytesOfRun = (sizes: ReadonlyMap<number, RunBytes>, id: number): RunBytes =>
  sizes.get(id) ?? NOTHING;

/** Which of these runs have logs here. */
export function runsWithLogs(outputDir: string, runs: ReadonlySet<number>): Set<number> {
  return new Set(logFilesOf(outputDir, runs).map(runOfLog));
}

/** Runs that have a folder, or a note of what was removed, here. */
export async function runsWithFolders(outputDir: string): Promise<Set<number>> {
  const folders = [
    outputFolder(outputDir),
    logFolder(outputDir),
    workFolders(outputDir),
    removedNotes(outputDir),
  ];
  const names = (await Promise.all(folders.map(entriesOf))).flat().map(({ name }) => name);
  return new Set(names.flatMap((name) => /^run-(\d+)(?:\.json)?$/.exec(name)?.slice(1).map(Number) ?? []));
}

function runOfLog(file: string): number {
  return Number(/_r(\d+)_a\d+\.[^/]*$/.exec(file)?.[1]);
}

/** Links are not followed: a step may have put one there. */
async function bytesIn(folder: string): Promise<number> {
  let bytes = 0;
  for (const entry of await entriesOf(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? await bytesIn(path) : await bytesOf(path);
  }
  return bytes;
}

async function bytesOf(file: string): Promise<number> {
  return lstat(file).then(
    ({ size }) => size,
    () => 0,
  );
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  return readdir(folder, { withFileTypes: true }).catch(() => []);
}
