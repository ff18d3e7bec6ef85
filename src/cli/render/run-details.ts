import type { Json } from "../../core/json.js";
import { nameOf } from "../../operations/job-name.js";
import { oneLine } from "../../operations/one-line.js";
import type { JobReport } from "../../operations/run-report.js";
import type { RunSummary } from "../../operations/run-summary.js";
import {
  failureLines,
  handledLines,
  headline,
  JOB_COLOURS,
  routeLines,
  type SummaryLook,
} from "./summary.js";
import { tableLines } from "./table.js";

const INDENT = "  ";

/** All that `show` tells of a run: every job, every route, and the state that expressions see. */
export function runDetailLines(summary: RunSummary, state: Json, look: SummaryLook): string[] {
  const { report } = summary;
  return [
    headline(summary, look.paint),
    ...jobLines(report.jobs, look),
    ...routeLines(report, look),
    ...handledLines(report, look),
    ...stateLines(state),
    ...failureLines(summary, look),
  ];
}

function jobLines(jobs: readonly JobReport[], look: SummaryLook): string[] {
  const rows = jobs.map((job) => [
    nameOf(job.step, job.scope),
    job.handled ? `${job.status} (handled)` : job.status,
    String(job.attempts),
    String(job.visits),
    detail(job),
  ]);
  const [header, ...lines] = tableLines(
    ["step", "status", "attempts", "visits", "result"],
    rows,
    look.width - INDENT.length,
  );
  return [
    INDENT + look.paint("dim", header!),
    ...lines.map((line, index) => INDENT + look.paint(JOB_COLOURS[jobs[index]!.status], line)),
  ];
}

function detail({ status, error, output }: JobReport): string {
  if (error !== null && status !== "completed") return oneLine(`${error.code}: ${error.message}`);
  if (output === null) return "";
  return oneLine(typeof output === "string" ? output : JSON.stringify(output));
}

interface ShownError {
  readonly step_id?: string;
  readonly code?: string;
  readonly message?: string;
}

function stateLines(state: Json): string[] {
  return Object.entries(state as { [scope: string]: { _last_error: ShownError | null } })
    .filter(([, { _last_error: error }]) => error !== null)
    .map(
      ([scope, { _last_error: error }]) =>
        `state._last_error in ${scope}: ${error?.step_id} ${error?.code}: ${oneLine(error?.message ?? "")}`,
    );
}
