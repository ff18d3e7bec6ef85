import { relative } from "node:path";
import { passedResource } from "../../core/model/resources.js";
import type { JobStatus } from "../../core/model/rows.js";
import { oneLine } from "../../core/text/plain-text.js";
import { heldBelowText } from "../../tell/lookup/held-below.js";
import { nameOf } from "../../tell/lookup/job-name.js";
import { goesOnWith } from "../../tell/lookup/run-program.js";
import { type WayBack, wayBackWords } from "../../tell/lookup/ways-back.js";
import type { RouteReport, RunReport, UndoneJob } from "../../tell/run-report.js";
import type { FailedStep, RunSummary } from "../../tell/run-summary.js";
import { durationText } from "../../tell/words/duration-text.js";
import { countHandled, handledText, strictReason } from "../../tell/words/handled-text.js";
import { shellWord } from "../../tell/words/shell-word.js";
import { statusWord } from "../../tell/words/status-word.js";
import { harmlessLines, tableLines } from "./columns.js";
import { failedStepLines } from "./failed-steps.js";
import { type HoldLook, holdLines } from "./hold-lines.js";
import type { Colour, Paint } from "./paint.js";
import { HANDLED_SIGN, importedMark, STATUS_SIGNS } from "./run-status.js";

/** More failed steps than this are retried together, as all that failed. */
const MAX_RETRIED = 3;
const HEAD = "next: ";

/** The commands that fit the end of a run, in the order to type them. Those for holds are printed below the holds. */
function nextLines(summary: RunSummary, look: SummaryLook): string[] {
  const {
    run_id: id,
    status,
    interrupted,
    imported,
    held_below: below,
    needs_program: program,
  } = summary.report;
  const { commandLine } = look;
  if (interrupted && program !== null) return [`run ${id} ${goesOnWith(program, id)}`];
  const isPaused = status === "paused" || below.some((child) => child.status === "paused");
  if (interrupted || (isPaused && !imported)) return [`${HEAD}${commandLine(`resume ${id}`)}`];
  if (status === "failed" || status === "held") return listed(endCommands(summary, look), look);
  if (below.length > 0) return [];
  const isUnderWay = status === "pending" || status === "running";
  return isUnderWay && look.serversRuns.has(id) ? ["the server goes on with it"] : [];
}

function listed(commands: readonly string[], { commandLine }: SummaryLook): string[] {
  return commands.map(
    (command, index) => (index === 0 ? HEAD : " ".repeat(HEAD.length)) + commandLine(command),
  );
}

function endCommands(
  { report, failures, holds, reuse_file, ways_back }: RunSummary,
  look: SummaryLook,
): string[] {
  const { run_id: id, status, imported, undone } = report;
  const held = holds.filter(({ kind }) => kind === "hold");
  const codes = [...failures.map(({ code }) => code), ...held.map(({ error }) => error?.code ?? "")];
  const commands = status === "failed" ? [`explain ${id}`] : [];
  const [first] = failures;
  // On another machine the log's path would be useless, so the command is shown instead.
  if (status === "failed" && first !== undefined && first.attempt > 0 && !look.isElsewhere)
    commands.push(logsCommand(id, first));
  if (imported || undone !== null) return commands;
  if (codes.some((code) => passedResource(code) !== null)) commands.push(`recover ${id}`);
  const unanswered = failures.filter((failure) => failure.unanswered);
  if (status === "failed" && unanswered.length > 0) commands.push(retryCommand(id, unanswered));
  commands.push(...ways_back.map((way) => sendBackCommand(id, way)));
  if (held.length > 1) commands.push("inbox");
  // Not for a held run: this would begin a second run that asks for the same decision.
  if (status === "failed" && reuse_file !== null && !look.isElsewhere)
    commands.push(`run ${shellWord(shortest(reuse_file))} --reuse`);
  return commands;
}

function retryCommand(id: number, failures: readonly FailedStep[]): string {
  if (failures.length > MAX_RETRIED) return `reset ${id}`;
  return `retry ${id} ${failures.map(({ step, scope }) => shellWord(nameOf(step, scope))).join(" ")}`;
}

/** With room for what the step is to do differently. */
function sendBackCommand(id: number, way: WayBack): string {
  return `${wayBackWords(id, way).map(shellWord).join(" ")} --hint "..."`;
}

/** The path as it would be typed here. */
function shortest(file: string): string {
  const here = relative(process.cwd(), file);
  return here.length < file.length && !here.startsWith("..") ? here : file;
}

function logsCommand(id: number, { step, scope }: FailedStep): string {
  return `logs ${id} ${step}${scope === "root" ? "" : ` --scope ${shellWord(scope)}`}`;
}

export interface SummaryLook extends HoldLook {
  readonly width: number;
}

const MAX_ROUTES = 100;
const MAX_FAILURES = 10;
const INDENT = "  ";

export const JOB_COLOURS: Readonly<Record<JobStatus, Colour>> = {
  blocked: "dim",
  ready: "cyan",
  running: "cyan",
  waiting: "yellow",
  recovering: "yellow",
  held: "yellow",
  completed: "green",
  failed: "red",
  skipped: "dim",
  canceled: "yellow",
};

/** Describes the end of a run: how it went, which failures it had, what was done about them and what to do next. */
export function summaryLines(summary: RunSummary, look: SummaryLook): string[] {
  const { report } = summary;
  return [
    ...headlines(summary, look.paint),
    ...routeLines(report, look),
    ...handledLines(report, look),
    ...undoneLines(report, look),
    ...failureLines(summary, look),
    ...summary.endings.flatMap(({ step, text }) => [
      "",
      look.paint("dim", `${step} printed:`),
      ...harmlessLines(text),
    ]),
  ];
}

/** Whether nothing failed that was not repaired. */
export function isClean(report: RunReport): boolean {
  return report.status === "completed" && handledText(report) === null;
}

/**
 * Says how the run ended. A completed run with handled failures is not green: its first line says what it did not do.
 */
export function headlines({ report, counts }: RunSummary, paint: Paint): string[] {
  const word = statusWord(report);
  const handled = word === "completed" ? handledText(report) : null;
  const [sign, colour] = handled === null ? STATUS_SIGNS[word] : HANDLED_SIGN;
  const { duration_ms: took } = report;
  const phase = report.phase === null ? "" : ` (${report.phase})`;
  const time = took === null ? "" : `${word === "completed" ? "in" : "after"} ${durationText(took)}`;
  const title = paint(
    colour,
    `${sign} run ${report.run_id} of ${report.workflow} ${paint("bold", word)}${importedMark(report)}`,
  );
  const more = counts.join(", ");
  if (report.held_below.length > 0)
    return [`${title}: ${heldBelowText(report.held_below)}`, `${INDENT}${more}`];
  if (handled === null) return [`${title}${phase}${time === "" ? "" : ` ${time}`}: ${more}`];
  const why = strictReason(report);
  const strict = report.strict && why !== null ? [`strict: the exit code is 1, because ${why}`] : [];
  const joint = countHandled(report) === 0 && report.decided.length > 0 ? "; " : ", ";
  return [
    `${title}${joint}${paint(colour, handled)}`,
    `${INDENT}${time === "" ? "" : `${time}: `}${more}`,
    ...strict.map((line) => INDENT + line),
  ];
}

/** Describes failure routes. What follows a success is not listed. */
export function routeLines(report: RunReport, look: SummaryLook): string[] {
  const routes = report.routes.filter(({ rung }) => rung !== "on_success" && rung !== "undo");
  if (routes.length === 0) return [];
  const startedAt = Date.parse(report.created_at);
  const rows = routes.slice(0, MAX_ROUTES).map((route) => routeRow(route, startedAt));
  const table = tableLines(
    ["time", "step", "attempt", "rung", "to", "reason"],
    rows,
    look.width - INDENT.length,
  );
  const more = routes.length - rows.length;
  return [
    "failure routes taken:",
    ...table.map((line, index) => INDENT + (index === 0 ? look.paint("dim", line) : line)),
    ...(more > 0 ? [`${INDENT}… and ${more} more: ${look.commandLine(`show ${report.run_id}`)}`] : []),
  ];
}

function routeRow({ at, step, scope, attempt, rung, to, reason }: RouteReport, startedAt: number): string[] {
  return [
    `+${durationText(Date.parse(at) - startedAt)}`,
    nameOf(step, scope),
    String(attempt),
    rung,
    to === step ? "" : to,
    oneLine(reason),
  ];
}

export function handledLines(report: RunReport, look: SummaryLook): string[] {
  const handled = report.handled_failures;
  if (handled.length === 0) return [];
  return [
    "handled failures:",
    ...handled
      .slice(0, MAX_FAILURES)
      .map(
        ({ step, scope, code, message }) =>
          `${INDENT}${look.paint("yellow", nameOf(step, scope))}: ${oneLine(message)} (${code})`,
      ),
    ...(handled.length > MAX_FAILURES ? [`${INDENT}… and ${handled.length - MAX_FAILURES} more`] : []),
  ];
}

/** What the run has undone before it ended, and what somebody may have to undo by hand. */
export function undoneLines({ undone, phase }: RunReport, { paint }: SummaryLook): string[] {
  if (undone === null) return [];
  const told = (jobs: readonly UndoneJob[]): string => {
    const names = jobs.slice(0, MAX_FAILURES).map(({ step, scope }) => nameOf(step, scope));
    const more = jobs.length - names.length;
    return [...names, ...(more > 0 ? [`${more} more`] : [])].join(", ");
  };
  const left = phase === "undo" ? "still to undo" : "not undone";
  return [
    ...(undone.done.length === 0 ? [] : [`undone: ${told(undone.done)}`]),
    ...(undone.left.length === 0 ? [] : [`${paint("yellow", left)}: ${told(undone.left)}`]),
  ];
}

export function failureLines(summary: RunSummary, look: SummaryLook): string[] {
  const { report, failures } = summary;
  if (report.status === "completed") return [];
  const [first] = failures;
  const id = report.run_id;
  const lines: string[] = [];
  if (report.status === "canceled") lines.push(`canceled: ${oneLine(report.error?.message ?? "")}`);
  if (first === undefined) {
    if (report.status === "failed")
      lines.push(
        `${look.paint("red", report.error?.code ?? "failed")}: ${oneLine(report.error?.message ?? "")}`,
      );
  } else {
    const log = (failed: FailedStep, stream: "stdout" | "stderr"): string | null =>
      look.isElsewhere ? look.commandLine(logsCommand(id, failed)) : failed[`${stream}_file`];
    lines.push(...failedStepLines(failures, { paint: look.paint, log }));
  }
  lines.push(...holdLines(summary.holds, look), ...deadLetterLines(summary, look));
  return [...lines, ...nextLines(summary, look)];
}

/** Lists dead letters with the command that redrives them. Commands for holds are printed below. */
function deadLetterLines(
  { report, deadLetters: dead }: RunSummary,
  { paint, commandLine }: SummaryLook,
): string[] {
  if (report.imported) return [];
  const lines = dead
    .slice(0, MAX_FAILURES)
    .map(
      ({ id, step, scope }) =>
        `${paint("red", nameOf(step, scope))} is a dead letter (the queue has given it up); once the cause is fixed: ${commandLine(`redrive ${id} --reason "..."`)}`,
    );
  const more = dead.length - lines.length;
  return more > 0
    ? [...lines, `… and ${more} more dead letters: ${commandLine("inbox --kind dead_letter")}`]
    : lines;
}
