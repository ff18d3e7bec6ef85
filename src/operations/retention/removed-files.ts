import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { Board, type BoardStore } from "../../run/engine/board.js";
import { outputFolder, runFolder, runLogFolder, workFolderOf } from "../../run/worker/attempt-paths.js";
import { removeFolder } from "../../run/workspace/remove-folder.js";

export type RemovedKind = "logs" | "artifacts";

/** What was removed of a run that is still there: nobody must take it for a run that printed nothing. */
type RemovedFiles = { readonly [kind in RemovedKind]?: string };

export function noteRemovedFiles(outputDir: string, runId: number, kind: RemovedKind, at: string): void {
  const file = noteOf(outputDir, runId);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const noted: RemovedFiles = { ...readRemovedFiles(outputDir, runId), [kind]: at };
  writeFileSync(file, `${JSON.stringify(noted)}\n`, { mode: 0o600 });
}

function readRemovedFiles(outputDir: string, runId: number): RemovedFiles {
  try {
    return JSON.parse(readFileSync(noteOf(outputDir, runId), "utf8")) as RemovedFiles;
  } catch {
    return {};
  }
}

function forgetRemovedFiles(outputDir: string, runId: number): void {
  rmSync(noteOf(outputDir, runId), { force: true });
}

/**
 * Throws for a missing file that retention has removed. `since` is when its content was written; a younger file was
 * never removed.
 */
export function refuseRemoved(
  outputDir: string,
  {
    runId,
    kind,
    since,
  }: { readonly runId: number; readonly kind: RemovedKind; readonly since: number | null },
): void {
  const at = readRemovedFiles(outputDir, runId)[kind];
  if (at === undefined || (since !== null && since > Date.parse(at))) return;
  throw new DarumaError("FILES_REMOVED", `the ${kind} of run ${runId} were removed on ${at}`);
}

function noteOf(outputDir: string, runId: number): string {
  return join(removedNotes(outputDir), `run-${runId}.json`);
}

export function removedNotes(outputDir: string): string {
  return join(outputFolder(outputDir), "removed");
}

const KIND = "retention";
const NAME = "removed_runs";
/** How long a server may be down and still remove its files of these runs. */
const REMEMBERED_MS = 7 * 86_400_000;
const MAX_REMEMBERED = 20_000;

/** Runs as [id, when they were about to be removed]. */
type Removed = readonly (readonly [id: number, at: number])[];

function open(store: BoardStore, now: number): Board<Removed> {
  return new Board(KIND, store, { now: () => now }, (row) => (row === undefined ? [] : JSON.parse(row.data)));
}

/**
 * Records which runs will be removed. If the process dies, the list remains, and other servers of the store, each with
 * its own output folder, find it here. A listed run that still exists was kept after all.
 */
export async function noteRemovedRuns(store: BoardStore, ids: readonly number[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await open(store, now).changeOne(NAME, (removed, at) => {
    const others = removed.filter(([id, since]) => since > at - REMEMBERED_MS && !ids.includes(id));
    return [...others, ...ids.map((id) => [id, at] as const)].slice(-MAX_REMEMBERED);
  });
}

export async function listRemovedRuns(store: BoardStore, now: number): Promise<number[]> {
  const board = open(store, now);
  await board.read([NAME]);
  return board.get(NAME)!.map(([id]) => id);
}

/**
 * Removes logs, artifacts and workspaces of runs. Their rows must be removed first, because a run without files would
 * look like one that lost them.
 */
export async function removeFiles(outputDir: string, runs: ReadonlySet<number>): Promise<void> {
  await removeArtifacts(outputDir, runs);
  await removeLogs(outputDir, runs);
  for (const runId of runs) forgetRemovedFiles(outputDir, runId);
}

export async function removeArtifacts(outputDir: string, runs: ReadonlySet<number>): Promise<void> {
  for (const runId of runs)
    for (const folder of [runFolder(outputDir, runId), workFolderOf(outputDir, runId)])
      await removeFolder(folder);
}

export async function removeLogs(outputDir: string, runs: ReadonlySet<number>): Promise<void> {
  for (const runId of runs) await removeFolder(runLogFolder(outputDir, runId));
}
