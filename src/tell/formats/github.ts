import { commandMessage, commandProperty } from "../../core/text/escapes.js";
import { oneLine } from "../../core/text/plain-text.js";
import {
  errorOf,
  handledWords,
  isBroken,
  isHandled,
  isRescued,
  type ReportedJob,
  type ReportedRun,
} from "./reported-run.js";

/** GitHub shows no more of a kind for one step of a pipeline. */
const MAX_OF_A_KIND = 10;
const MAX_MESSAGE_CHARS = 1_000;

/** Workflow commands that make annotations: an error for each failure, a warning for what was handled or rescued. */
export function githubText({ summary: { report }, jobs }: ReportedRun): string {
  const lines = [
    ...annotations(
      "error",
      jobs.filter((job) => isBroken(job, report)),
      (job) => {
        const { code, message } = errorOf(job);
        const how = job.status === "held" ? "is held" : job.below === null ? "failed" : handledWords(job);
        return [`${job.name} ${how} (${code})`, message];
      },
    ),
    ...annotations(
      "warning",
      jobs.filter((job) => isHandled(job, report) || isRescued(job)),
      (job) => {
        const { code: why, message: what } = errorOf(job);
        if (isHandled(job, report)) return [`${job.name} ${handledWords(job)} (${why})`, what];
        const { code, message } = job.earlierFailures.at(-1)!;
        return [`${job.name} passed on attempt ${job.attempts} (${code})`, message];
      },
    ),
  ];
  const { status, error } = report;
  if (lines.length === 0 && (status === "failed" || status === "canceled"))
    lines.push(command("error", `${report.workflow} ${status}`, error?.message ?? status));
  return lines.map((line) => `${line}\n`).join("");
}

function annotations(
  kind: "error" | "warning",
  jobs: readonly ReportedJob[],
  told: (job: ReportedJob) => readonly [title: string, message: string],
): string[] {
  const isTooMany = jobs.length > MAX_OF_A_KIND;
  const shown = jobs.slice(0, isTooMany ? MAX_OF_A_KIND - 1 : MAX_OF_A_KIND);
  const rest = jobs.length - shown.length;
  return [
    ...shown.map((job) => command(kind, ...told(job))),
    ...(isTooMany ? [command(kind, `and ${rest} more`, `${rest} more steps: see the summary`)] : []),
  ];
}

function command(kind: string, title: string, message: string): string {
  const text = oneLine(message, MAX_MESSAGE_CHARS);
  return `::${kind} title=${commandProperty(oneLine(title))}::${commandMessage(text)}`;
}
