import { existsSync } from "node:fs";
import type { RunRow } from "../core/model/rows.js";
import type { Daruma } from "../host/daruma.js";
import { loadRun } from "../run/engine/load-run.js";
import { forkableStep } from "../tell/lookup/fork-run.js";
import { isReusable } from "../tell/lookup/own-runs.js";
import { shellWord } from "../tell/words/shell-word.js";
import { commandLine } from "./declare/command-words.js";
import { type Session, writeLines } from "./terminal/channel.js";

/**
 * Warns if the workflow file has changed. A run keeps the definition that it started with, and somebody who has edited
 * the file wants to know that before it goes on.
 */
export async function tellChangedFile(session: Session, daruma: Daruma, runId: number): Promise<void> {
  if (session.options.quiet) return;
  const row = await daruma.store.readRun(runId);
  if (row === null || row.finished_at !== null || !hasChanged(row, daruma)) return;
  const step = await stepToForkAt(daruma, row);
  const fork =
    step === null
      ? ""
      : `; to continue with the new one: ${commandLine(session.options, `fork ${runId} --from ${shellWord(step)} --file ${shellWord(row.file!)}`)}`;
  const { err } = session;
  writeLines(err, [
    `${err.paint("yellow", "warning")}: ${row.file} has changed since run ${runId} started, which goes on with what it was${fork}`,
  ]);
}

/** Whether the file differs from the run's definition. A missing file does not count, nor does one that is refused. */
function hasChanged({ file, folder, definition_hash }: RunRow, daruma: Daruma): boolean {
  if (file === null || !existsSync(file)) return false;
  try {
    return daruma.load(file, folder).hash !== definition_hash;
  } catch {
    return true;
  }
}

/** The first unfinished step. */
async function stepToForkAt({ store }: Daruma, row: RunRow): Promise<string | null> {
  if (!isReusable(row)) return null;
  const { run } = await loadRun(store, row.id);
  const next = run.jobs.find(({ status, step }) => step.atEnd === null && !DONE.has(status));
  return next === undefined ? null : forkableStep(run, next.step.definition.id);
}

const DONE: ReadonlySet<string> = new Set(["completed", "skipped"]);
