import { existsSync } from "node:fs";
import { DarumaError } from "../core/errors/errors.js";
import type { RunRow } from "../core/model/rows.js";
import type { Daruma } from "../host/daruma.js";
import type { Client } from "../operations/client.js";
import { loadRun } from "../run/engine/load-run.js";
import { forkableStep } from "../tell/lookup/fork-source.js";
import { isReusable } from "../tell/lookup/own-runs.js";
import { ownerOf, type RunOwner } from "../tell/lookup/run-owner.js";
import { shellWord } from "../tell/words/shell-word.js";
import { commandLine } from "./declare/command-words.js";
import { followRun } from "./follow-run.js";
import { openHere } from "./open-here.js";
import type { FollowFlags } from "./server/server-flags.js";
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

export interface GoOnFlags extends Pick<FollowFlags, "maxParallel" | "verbose" | "report" | "strict"> {
  /** False if the command is only recorded. */
  readonly resume?: boolean;
}

/** Continues a run that no process runs, in its own folder. If another process was faster, follows it to its end. */
export async function goOnHere(
  session: Session,
  client: Client,
  runId: number,
  flags: GoOnFlags,
): Promise<number> {
  const { daruma, channels } = await openHere(session, runId, flags);
  await tellChangedFile(session, daruma, runId);
  let runner = null as RunOwner | null;
  try {
    return await followRun(session, daruma, { ...flags, channels }, () =>
      daruma.takeUp(runId).catch(async (error: unknown) => {
        if (error instanceof DarumaError && error.code === "RUN_OWNED")
          runner = await ownerOf(daruma.store, runId);
        throw error;
      }),
    );
  } catch (error) {
    if (runner === null) throw error;
    return followThere(session, client, { runId, runner, flags });
  }
}

async function followThere(
  session: Session,
  client: Client,
  { runId, runner, flags }: { readonly runId: number; readonly runner: RunOwner; readonly flags: GoOnFlags },
): Promise<number> {
  const { ServerRun } = await import("./remote/follow-server-run.js");
  const { json, quiet } = session.options;
  if (!json && !quiet) writeLines(session.out, [`process ${runner.pid} continues it`]);
  const run = new ServerRun(session, client, runId, flags);
  // Past events are not printed again.
  await run.catchUp();
  return run.follow();
}
