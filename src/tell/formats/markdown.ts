import { excerptOf } from "../../core/model/excerpt.js";
import { markdownCode, markdownFence, markdownLine } from "../../core/text/escapes.js";
import { nameOf } from "../lookup/job-name.js";
import type { RouteReport } from "../run-report.js";
import type { FailedStep } from "../run-summary.js";
import { durationText, endedText } from "../words/duration-text.js";
import { handledText, strictText } from "../words/handled-text.js";
import { statusWord } from "../words/status-word.js";
import { isRescued, type ReportedJob, type ReportedRun } from "./reported-run.js";

const MAX_FAILURES = 10;
const MAX_RESCUED = 20;
const MAX_ROUTES = 50;
const MAX_LINES = 30;
const MAX_CELL_CHARS = 300;

/** A page of a run that a person reads where the pipeline shows it. What steps wrote stands in fences or escaped. */
export function markdownText({ summary, jobs }: ReportedRun): string {
  const { report, failures, holds, counts } = summary;
  const word = statusWord(report);
  const time = report.duration_ms === null ? word : endedText(word, report.duration_ms);
  const handled = report.status === "completed" ? handledText(report) : null;
  return [
    `## ${cell(report.workflow)}: ${time}`,
    "",
    `Run ${report.run_id}: ${counts.join(", ")}.`,
    ...(handled === null
      ? []
      : ["", [`⚠ ${cell(handled)}.`, strictText(report)].filter((each) => each !== null).join(" ")]),
    ...failures.slice(0, MAX_FAILURES).flatMap(failureText),
    ...more(failures.length - MAX_FAILURES, "failed step"),
    ...section(
      "Waiting for a decision",
      holds.map(({ step, scope, kind, error, question }) => {
        const what = kind === "question" ? (question?.prompt ?? "") : (error?.message ?? "");
        return `- ${code(nameOf(step, scope))}: ${cell(what)}`;
      }),
    ),
    ...rescuedText(jobs.filter(isRescued)),
    ...section(
      "Handled failures",
      report.handled_failures.map(
        ({ step, scope, code: name, message }) =>
          `- ${code(nameOf(step, scope))}: ${cell(message)} (${code(name)})`,
      ),
    ),
    ...section(
      "Not undone",
      (report.undone?.left ?? []).map(({ step, scope }) => `- ${code(nameOf(step, scope))}`),
    ),
    ...routesText(
      report.routes.filter(({ rung }) => rung !== "on_success" && rung !== "undo"),
      Date.parse(report.created_at),
    ),
    "",
  ].join("\n");
}

function failureText(failed: FailedStep): string[] {
  const printed = excerptOf(failed, MAX_LINES).map(({ text }) => text);
  const attempt = failed.attempt > 1 ? ` on attempt ${failed.attempt}` : "";
  return [
    "",
    `### ${code(nameOf(failed.step, failed.scope))} failed${attempt}`,
    "",
    `${cell(failed.message)} (${code(failed.code)})`,
    ...(printed.length === 0 ? [] : ["", ...markdownFence(printed)]),
  ];
}

function rescuedText(rescued: readonly ReportedJob[]): string[] {
  const lines = rescued.slice(0, MAX_RESCUED).map(({ name, attempts, earlierFailures }) => {
    const { code: why, message } = earlierFailures.at(-1)!;
    return `- ${code(name)} passed on attempt ${attempts}; before that: ${cell(message)} (${code(why)})`;
  });
  return section("Rescued", [...lines, ...more(rescued.length - MAX_RESCUED, "step")]);
}

function routesText(routes: readonly RouteReport[], startedAt: number): string[] {
  if (routes.length === 0) return [];
  const rows = routes.slice(0, MAX_ROUTES).map(({ at, step, scope, attempt, rung, to, reason }) => {
    const cells = [
      `+${durationText(Date.parse(at) - startedAt)}`,
      code(nameOf(step, scope)),
      String(attempt),
      rung,
      to === step ? "" : code(to),
      cell(reason),
    ];
    return `| ${cells.join(" | ")} |`;
  });
  return [
    "",
    "### Failure routes taken",
    "",
    "| time | step | attempt | rung | to | reason |",
    "|---|---|---:|---|---|---|",
    ...rows,
    ...more(routes.length - MAX_ROUTES, "route"),
  ];
}

function section(title: string, lines: readonly string[]): string[] {
  return lines.length === 0 ? [] : ["", `### ${title}`, "", ...lines];
}

function more(count: number, what: string): string[] {
  return count > 0 ? ["", `… and ${count} more ${what}${count === 1 ? "" : "s"}`] : [];
}

function cell(text: string): string {
  return markdownLine(text, MAX_CELL_CHARS);
}

function code(text: string): string {
  return markdownCode(text, MAX_CELL_CHARS);
}
