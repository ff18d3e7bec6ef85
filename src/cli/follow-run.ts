import { randomUUID } from "node:crypto";
import type { Run } from "../core/model/run.js";
import type { Settings } from "../file/settings/settings.js";
import type { Daruma } from "../host/daruma.js";
import type { NoticeSender } from "../host/notices/notice-sender.js";
import type { BegunRun } from "../host/run-handle.js";
import type { Client } from "../operations/client.js";
import { currentOwner, isDead } from "../store/lease-owner.js";
import { isTelemetryWanted } from "../tell/metrics/wanted.js";
import { openReport, type RunReport } from "../tell/run-report.js";
import { type RunSummary, summariseRun } from "../tell/run-summary.js";
import { commandLine } from "./declare/command-words.js";
import { growHeapSlowlyForRun } from "./heap-growth.js";
import { localLook } from "./look.js";
import { noProgress, type Progress } from "./render/progress.js";
import type { SummaryLook } from "./render/summary.js";
import type { FollowFlags } from "./server/server-flags.js";
import { outlivePipes } from "./terminal/broken-pipe.js";
import { type Session, writeJson, writeJsonWithList, writeLines } from "./terminal/channel.js";
import { EXIT, exitCodeOfRun } from "./terminal/exit-codes.js";
import { firstSignal } from "./terminal/signals.js";
import { writeReports } from "./write-reports.js";

/** Starts or resumes a run, shows its progress and prints its result. Returns the exit code. */
export async function followRun(
  session: Session,
  daruma: Daruma,
  { verbose, report, strict, channels }: FollowFlags & Pick<Settings, "channels">,
  begin: (say: (text: string) => void) => Promise<BegunRun>,
): Promise<number> {
  outlivePipes();
  const progress = await chooseProgress(session, daruma);
  if (verbose === true) (await import("./render/step-output.js")).showOutput(daruma, progress);
  daruma.onCommitted((run, events) => progress.events(run, events));
  daruma.onCommitted(growHeapSlowlyForRun);
  daruma.onShortage((text) => progress.say(text));
  const telemetry = await telemetryOf(daruma);
  const sender = await senderOf(channels, daruma, (text) => progress.say(text));
  let hasFailures = false;
  daruma.onCommitted(({ book }) => {
    hasFailures ||= book.rows > 0;
  });
  let runId: number | null = null;
  const ending = begin((text) => progress.say(text)).then(async (begun) => {
    runId = begun.runId;
    await begun.ended;
    return begun.runId;
  });
  try {
    const outcome = await Promise.race([ending, nextInterrupt()]);
    progress.end();
    const exitCode =
      outcome === INTERRUPTED
        ? await stopCleanly(session, daruma, runId)
        : await tellLocalEnd(session, daruma, outcome, { hasSeenOutput: verbose === true, strict });
    if (hasFailures && outcome !== INTERRUPTED) await rollUp(daruma);
    if (outcome !== INTERRUPTED) await sender?.notifier.finish(NOTICES_MS);
    if (runId === null) return exitCode;
    return await writeReports(session, daruma, { runId, reports: report, exitCode, strict });
  } finally {
    progress.end();
    await sender?.close();
    // The error has been printed. A failure while closing must not hide it.
    await daruma.close().catch(() => {});
    await telemetry?.close();
  }
}

const ROLL_UP_MS = 3_000;

/** Adds the run to the failure book, in case no server does it. The next reader of the book adds what is left. */
async function rollUp({ store }: Daruma): Promise<void> {
  const { rollUpFor } = await import("../run/engine/duties/duty.js");
  await rollUpFor(ROLL_UP_MS, { store, owner: currentOwner(randomUUID()), isDead }).catch(() => {});
}

/** How long to wait after the end of a run until its messages are sent. */
const NOTICES_MS = 10_000;

/** Sends messages; null if there are no channels. */
async function senderOf(
  channels: Settings["channels"],
  daruma: Daruma,
  tell: (text: string) => void,
): Promise<NoticeSender | null> {
  if (channels.length === 0) return null;
  const { NoticeSender } = await import("../host/notices/notice-sender.js");
  const runs = new Map<number, string>();
  daruma.onCommitted(({ id, workflow }) => void runs.set(id, workflow));
  const sender = new NoticeSender({
    ...{ store: daruma.store, owner: currentOwner(randomUUID()), channels, env: process.env, tell },
    page: () => "",
    ownRuns: () => ({ runIds: [...runs.keys()], workflows: [...runs.values()] }),
  });
  daruma.onNotices(() => sender.notifier.wake());
  daruma.onCommitted((run) => sender.heed(run));
  sender.notifier.start();
  return sender;
}

/** Exports telemetry; null if none is configured. */
async function telemetryOf(daruma: Daruma): Promise<{ close(): Promise<void> } | null> {
  if (!isTelemetryWanted(process.env)) return null;
  const telemetry = (await import("../tell/metrics/telemetry.js")).openTelemetry(process.env);
  daruma.onLoaded((run, log) => telemetry.recall(run, log));
  daruma.onCommitted((run, events) => telemetry.take(run, events));
  return telemetry;
}

export async function chooseProgress(
  { err, options }: Session,
  client: Pick<Client, "call">,
): Promise<Progress> {
  const toType = (command: string): string => commandLine(options, command);
  if (options.debug)
    return (await import("./render/debug-progress.js")).debugProgress(err, process.env, toType);
  if (options.quiet) return noProgress;
  if (err.isTerminal) {
    const { liveProgress } = await import("./render/live-progress.js");
    const usual = async (run: Run) => (await import("./render/forecast.js")).readUsualTimes(client, run);
    return liveProgress(err, undefined, toType, usual);
  }
  return (await import("./render/plain-progress.js")).plainProgress(err, toType);
}

export const INTERRUPTED: unique symbol = Symbol("interrupted");

export async function nextInterrupt(): Promise<typeof INTERRUPTED> {
  await firstSignal();
  return INTERRUPTED;
}

async function stopCleanly(
  { out, err, options }: Session,
  daruma: Daruma,
  runId: number | null,
): Promise<number> {
  if (runId === null) {
    writeLines(err, ["stopping; the run had not started"]);
    return EXIT.interrupted;
  }
  const isPending = (await daruma.store.readRun(runId))?.status === "pending";
  const how = isPending ? "leaves the queue; to put it back" : "is interrupted; to continue it";
  writeLines(err, [`stopping; run ${runId} ${how}: ${commandLine(options, `resume ${runId}`)}`]);
  if (options.json) {
    const { report, jobs } = await openReport(daruma.store, runId);
    // This process releases the run right afterwards.
    await writeJsonWithList(out, { ...report, interrupted: report.status === "running" }, "jobs", jobs);
  }
  return EXIT.interrupted;
}

/** Prints the end of a run in this process. Of very many jobs only those that need mentioning are kept. */
async function tellLocalEnd(
  session: Session,
  { store, outputDir }: Daruma,
  runId: number,
  { hasSeenOutput, strict }: { readonly hasSeenOutput: boolean; readonly strict: boolean | undefined },
): Promise<number> {
  const { out, options } = session;
  const { report: recorded, jobs } = await openReport(store, runId);
  const report = strictly(recorded, strict);
  if (options.json) await writeJsonWithList(out, report, "jobs", jobs);
  else {
    const summary = await summariseRun(store, outputDir, report, jobs);
    // Somebody who has seen every line need not see the last ones again.
    const shown = hasSeenOutput && out.isTerminal ? { ...summary, endings: [] } : summary;
    await showSummary(session, shown, localLook(session));
  }
  return exitCodeOfRun(report);
}

/** Prints the end of a run that another process or server ran. */
export async function tellEnd(
  session: Session,
  told: RunSummary,
  look: SummaryLook,
  strict: boolean | undefined,
): Promise<number> {
  const summary = { ...told, report: strictly(told.report, strict) };
  const { report } = summary;
  if (session.options.json) writeJson(session.out, report);
  else await showSummary(session, summary, look);
  return exitCodeOfRun(report);
}

/** Applies `--strict` of this command to its own answer. One that the run was started with stays in force. */
function strictly(report: RunReport, strict: boolean | undefined): RunReport {
  return strict === true ? { ...report, strict } : report;
}

async function showSummary({ out, options }: Session, summary: RunSummary, look: SummaryLook): Promise<void> {
  const { failureLines, headlines, isClean, summaryLines } = await import("./render/summary.js");
  if (!options.quiet) writeLines(out, summaryLines(summary, look));
  else if (!isClean(summary.report))
    writeLines(out, [...headlines(summary, look.paint), ...failureLines(summary, look)]);
}
