import type { JobStatus } from "../../core/model/rows.js";
import { oneLine } from "../../core/text/plain-text.js";
import { heldBelowText } from "../../tell/lookup/held-below.js";
import { nameOf } from "../../tell/lookup/job-name.js";
import type { RouteReport, RunReport } from "../../tell/run-report.js";
import type { FailedStep, RunSummary } from "../../tell/run-summary.js";
import type { UndoneJob } from "../../tell/undone.js";
import { durationText } from "../../tell/words/duration-text.js";
import { countHandled, handledText, strictReason } from "../../tell/words/handled-text.js";
import { statusWord } from "../../tell/words/status-word.js";
import { failedStepLines } from "./failed-steps.js";
import { type HoldLook, holdLines } from "./hold-lines.js";
import { logsCommand, nextLines } from "./next-lines.js";
import type { Colour, Paint } from "./paint.js";
import { HANDLED_SIGN, importedMark, STATUS_SIGNS } from "./run-status.js";
import { tableLines } from "./table.js";
import { harmlessLines } from "./text-width.js";

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
