import { mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import { outputFolder } from "../../run/worker/attempt-paths.js";

export type RemovedKind = "logs" | "artifacts";

/** What was removed of a run that is still there: nobody must take it for a run that printed nothing. */
export type RemovedFiles = { readonly [kind in RemovedKind]?: string };

export function noteRemovedFiles(outputDir: string, runId: number, kind: RemovedKind, at: string): void {
  const file = noteOf(outputDir, runId);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  const noted: RemovedFiles = { ...readRemovedFiles(outputDir, runId), [kind]: at };
  writeFileSync(file, `${JSON.stringify(noted)}\n`, { mode: 0o600 });
}

export function readRemovedFiles(outputDir: string, runId: number): RemovedFiles {
  try {
    return JSON.parse(readFileSync(noteOf(outputDir, runId), "utf8")) as RemovedFiles;
  } catch {
    return {};
  }
}

export function forgetRemovedFiles(outputDir: string, runId: number): void {
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
