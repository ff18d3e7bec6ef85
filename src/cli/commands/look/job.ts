import { raiseText } from "../../../core/model/resources.js";
import { aboutSize } from "../../../core/text/amount-text.js";
import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import type { ShownUsage } from "../../../tell/attempt-details.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import { durationText } from "../../../tell/words/duration-text.js";
import { thenText } from "../../../tell/words/expiry-text.js";
import type { Present } from "../../declare/declaration.js";
import { jobPlace } from "../../declare/typed-names.js";
import { clockTime } from "../../render/clock-time.js";
import { tableLines } from "../../render/columns.js";
import { JOB_COLOURS } from "../../render/summary.js";
import { type Session, writeJson, writeLines } from "../../terminal/channel.js";

const INDENT = "  ";

/** Shows one job: what became of it, and every attempt. */
export const showJob: Present = async ({ args, input }, { out, options }, client) => {
  const { definition } = input as InputOf<"get_job">;
  const job = await client.call("get_job", { ...jobPlace(args[0] as string[]), definition });
  if (options.json) writeJson(out, job);
  else writeLines(out, jobLines(job, { out }));
  return 0;
};

function jobLines(job: OutputOf<"get_job">, { out }: Pick<Session, "out">): string[] {
  const { id, run_id, step, scope, status, attempt_history, error, output, due_at, handled, raised, expiry } =
    job;
  const { taken_over_from: from } = job;
  const lines = [
    `job ${id}, ${nameOf(step, scope)} of run ${run_id}: ${out.paint(JOB_COLOURS[status], status)}${handled ? " (handled)" : ""}`,
  ];
  if (job.definition !== null) {
    const { type, no_progress_limit: limit } = job.definition;
    const stuck = limit === null ? "" : `, stuck after ${limit} failures without progress`;
    lines.push(`${INDENT}step: ${type}${stuck}`);
  }
  if (job.waits_for !== null) lines.push(`${INDENT}waiting: ${oneLine(job.waits_for.text)}`);
  const then = expiry === null ? "" : `, then ${oneLine(thenText(expiry))}`;
  if (due_at !== null) lines.push(`${INDENT}due: ${due_at}${then}`);
  if (error !== null) lines.push(`${INDENT}error: ${oneLine(`${error.code}: ${error.message}`)}`);
  if (output !== null && output !== undefined) lines.push(`${INDENT}output: ${oneLine(textOf(output))}`);
  if (from !== null)
    lines.push(
      `${INDENT}taken over from run ${from.run_id}${from.attempt === 0 ? "" : `, attempt ${from.attempt}`}`,
    );
  if (raised.length > 0) lines.push(`${INDENT}raised: ${raised.map(raiseText).join(", ")}`);
  if (attempt_history.length === 0) return from === null ? [...lines, `${INDENT}no attempts yet`] : lines;
  return [
    ...lines,
    ...attemptTable(attempt_history, out.width() - INDENT.length).map((line) => INDENT + line),
  ];
}

function attemptTable(attempts: OutputOf<"get_job">["attempt_history"], width: number): string[] {
  // Most attempts run in the process itself and have no node or allocation to show.
  const hasNode = attempts.some(({ node }) => node !== null);
  const hasAllocation = attempts.some(({ allocation }) => allocation !== null);
  const isMeasured = attempts.some(({ cpu_ms }) => cpu_ms !== null);
  const header = [
    ...["attempt", "status", "worker"],
    ...(hasNode ? ["node"] : []),
    ...(hasAllocation ? ["allocation"] : []),
    ...["started (UTC)", "ended (UTC)"],
    ...(isMeasured ? ["cpu", "memory"] : []),
    "error",
  ];
  const rows = attempts.map((each) => [
    ...[String(each.attempt), each.status, each.worker],
    ...(hasNode ? [each.node ?? ""] : []),
    ...(hasAllocation ? [allocationText(each)] : []),
    ...[clockTime(each.started_at), clockTime(each.finished_at)],
    ...(isMeasured ? usedCells(each) : []),
    each.error === null ? "" : oneLine(`${each.error.code}: ${each.error.message}`),
  ]);
  return tableLines(header, rows, width);
}

/** The allocation. A scheduler may start the same one several times. */
function allocationText({ allocation, restart }: OutputOf<"get_job">["attempt_history"][number]): string {
  return `${allocation ?? ""}${restart === null || restart === 0 ? "" : `, restart ${restart}`}`;
}

function usedCells({ cpu_ms, peak_memory_bytes }: ShownUsage): string[] {
  return [
    cpu_ms === null ? "" : durationText(cpu_ms),
    peak_memory_bytes === null ? "" : aboutSize(peak_memory_bytes),
  ];
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
