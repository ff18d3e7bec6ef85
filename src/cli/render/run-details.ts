import { isOneOfSeveral, writtenStep } from "../../core/model/written-step.js";
import type { Json } from "../../core/text/json.js";
import { type Labels, labelsText } from "../../core/text/labels.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { LiveControl } from "../../fleet/desk/protocol.js";
import { queuedText } from "../../run/engine/places/place-text.js";
import type { AttemptUsage } from "../../tell/attempt-details.js";
import { listNames, nameOf } from "../../tell/lookup/job-name.js";
import type { JobReport, RunReport } from "../../tell/run-report.js";
import type { RunSummary } from "../../tell/run-summary.js";
import { tableLines } from "./columns.js";
import { alike } from "./failed-steps.js";
import {
  failureLines,
  handledLines,
  headlines,
  JOB_COLOURS,
  routeLines,
  type SummaryLook,
  undoneLines,
} from "./summary.js";

const INDENT = "  ";

/** What `get_run` returns in addition to the report. */
export interface ShownBeside {
  readonly state: Json;
  readonly live_control: LiveControl;
  /** The last server that could not continue the run, while no process does. */
  readonly left_alone: { readonly host: string; readonly message: string } | null;
  readonly usage: readonly AttemptUsage[];
  /** What the run waits for before it starts, or what it waits for in a child run. */
  readonly waits_for: {
    readonly kind: "place" | "child";
    readonly position: number | null;
    readonly text: string;
  } | null;
}

/** All that `show` prints about a run: its jobs, every route, and the state that expressions see. */
export function runDetailLines(
  summary: RunSummary,
  more: ShownBeside,
  look: SummaryLook,
  /** Every job by itself; else those that are alike are one row. */
  full: boolean,
): string[] {
  const { report } = summary;
  return [
    ...headlines(summary, look.paint),
    ...labelLines(report.labels),
    ...groupLines(report, more.waits_for),
    ...jobLines(report, look, full),
    ...routeLines(report, look),
    ...handledLines(report, look),
    ...undoneLines(report, look),
    ...stateLines(more.state),
    ...controlLines(more.live_control),
    ...leftAloneLines(more.left_alone),
    ...usageLines(report.jobs, more.usage),
    ...failureLines(summary, look),
  ];
}

function groupLines({ concurrency, priority }: RunReport, waits: ShownBeside["waits_for"]): string[] {
  const lines: string[] = [];
  if (priority !== 0) lines.push(`${INDENT}priority: ${priority}`);
  if (concurrency !== null) {
    const { group, limit } = concurrency;
    lines.push(`${INDENT}group: ${oneLine(group)} (${limit === 1 ? "one run" : `${limit} runs`} at a time)`);
  }
  if (waits?.kind === "child") lines.push(INDENT + oneLine(waits.text));
  else if (waits !== null) lines.push(`${INDENT}waiting: ${oneLine(queuedText(waits))}`);
  return lines;
}

function labelLines(labels: Labels): string[] {
  return Object.keys(labels).length === 0 ? [] : [`${INDENT}labels: ${oneLine(labelsText(labels))}`];
}

/** So many of one step that are alike are still shown one by one. */
const MAX_EACH = 5;

function jobLines({ jobs, run_id }: RunReport, look: SummaryLook, full: boolean): string[] {
  const groups = alike<ShownJob>(jobs, full ? ({ id }) => String(id) : foldedAs(jobs));
  const rows = groups.map(rowOf);
  const [header, ...lines] = tableLines(
    ["step", "status", "attempts", "visits", "result"],
    rows,
    look.width - INDENT.length,
  );
  const isFolded = groups.length < jobs.length;
  return [
    INDENT + look.paint("dim", header!),
    ...lines.map((line, index) => INDENT + look.paint(JOB_COLOURS[groups[index]![0]!.status], line)),
    ...(isFolded ? [`${INDENT}each of them: ${look.commandLine(`show ${run_id} --full`)}`] : []),
  ];
}

/** A group stands where its first job does. One that is too small to be folded stays as it is. */
function foldedAs(jobs: readonly ShownJob[]): (job: ShownJob) => string {
  const sizes = new Map<string, number>();
  for (const job of jobs) sizes.set(likeness(job), (sizes.get(likeness(job)) ?? 0) + 1);
  return (job) => (sizes.get(likeness(job))! > MAX_EACH ? likeness(job) : String(job.id));
}

/** Items of a fan-out and jobs of a family are alike if they have come to the same and failed in the same way. */
function likeness(job: ShownJob): string {
  if (!isOneOfSeveral(job)) return String(job.id);
  const failed = job.status === "completed" ? null : (job.error?.signature ?? null);
  return JSON.stringify([writtenStep(job), statusText(job), failed, job.waits_for?.text ?? null]);
}

function rowOf(group: readonly ShownJob[]): string[] {
  const [job] = group as readonly [ShownJob];
  const isOne = group.length === 1;
  return [
    isOne ? nameOf(job.step, job.scope) : `${group.length} items of ${writtenStep(job)}`,
    statusText(job),
    fromTo(group.map(({ attempts }) => attempts)),
    fromTo(group.map(({ visits }) => visits)),
    isOne ? detail(job) : sharedDetail(group),
  ];
}

/** `1`, or `1-3` where they differ. */
function fromTo(numbers: readonly number[]): string {
  const least = numbers.reduce((a, b) => Math.min(a, b));
  const most = numbers.reduce((a, b) => Math.max(a, b));
  return least === most ? String(least) : `${least}-${most}`;
}

/** What is the same for all of them: an output seldom is. Of failures the first speaks for all. */
function sharedDetail(group: readonly ShownJob[]): string {
  const first = detail(group[0]!);
  if (group[0]!.status !== "completed" && first !== "")
    return `${listNames(group, ({ step, scope }) => nameOf(step, scope))}: ${first}`;
  return group.every((job) => detail(job) === first) ? first : "";
}

function statusText({ status, handled, dead_letter, taken_over }: JobReport): string {
  if (taken_over) return `${status} (${handled ? "handled, " : ""}taken over)`;
  if (handled) return `${status} (handled)`;
  return dead_letter ? `${status} (dead letter)` : status;
}

function leftAloneLines(left: ShownBeside["left_alone"]): string[] {
  return left === null ? [] : [`left alone by ${left.host}: ${oneLine(left.message)}`];
}

/** A plain pause is already in the first line. */
function controlLines({ takeover, recovery }: LiveControl): string[] {
  const taken = takeover ? ["taken over: nothing starts until it is resumed"] : [];
  if (recovery === null) return taken;
  const { action, step_id, updated_at } = recovery;
  return [...taken, `last asked for by hand: ${action} of ${step_id}, ${updated_at}`];
}

function usageLines(jobs: readonly JobReport[], usages: readonly AttemptUsage[]): string[] {
  const names = new Map(jobs.map(({ id, step, scope }) => [id, nameOf(step, scope)]));
  return usages.map(({ job_id, attempt, provider, model, input_tokens, output_tokens }) => {
    const count = (tokens: number | null): string => (tokens === null ? "?" : String(tokens));
    return `tokens of ${names.get(job_id)}, attempt ${attempt}: ${count(input_tokens)} in, ${count(output_tokens)} out (${provider} ${model})`;
  });
}

/** An answer of the server also says what a job waits for. */
type ShownJob = JobReport & { readonly waits_for?: { readonly text: string } | null };

function detail({ status, error, output, waits_for }: ShownJob): string {
  if (waits_for != null) return oneLine(waits_for.text);
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
