import { oneLine } from "../../../core/text/plain-text.js";
import type { InputOf, OutputOf } from "../../../operations/client.js";
import { nameOf } from "../../../tell/lookup/job-name.js";
import { durationText } from "../../../tell/words/duration-text.js";
import type { Present } from "../../declare/declaration.js";
import { clockTime } from "../../render/clock-time.js";
import { cutTo, padTo, tableLines, textWidth } from "../../render/columns.js";
import { writeJson, writeLines } from "../../terminal/channel.js";

type Comparison = OutputOf<"compare_runs">;

/** How many rows a terminal shows; `--json` has more. */
const SHOWN = 10;
const BETWEEN = " | ";
const MIN_COLUMN = 20;
const MAX_COLUMN = 120;

export const compare: Present = async ({ input }, { out, options }, client) => {
  const found = await client.call("compare_runs", input as InputOf<"compare_runs">);
  if (options.json) writeJson(out, found);
  else
    writeLines(out, [
      ...headLines(found),
      ...definitionLines(found),
      ...inputLines(found),
      ...timeLines(found, out.width()),
      ...outcomeLines(found, out.width()),
      ...logLines(found, out.width()),
    ]);
  return 0;
};

function headLines({ run, other }: Comparison): string[] {
  return [run, other].map(({ run_id, workflow, status, created_at, duration_ms }, place) => {
    const took = duration_ms === null ? "" : `, ${durationText(duration_ms)}`;
    return `${place === 0 ? "run" : "with run"} ${run_id} of ${workflow}: ${status}, ${clockTime(created_at)} UTC${took}`;
  });
}

function definitionLines({ definition: { keys, steps, left_off }, secrets }: Comparison): string[] {
  if (keys.length + steps.length === 0) return ["definition: the same"];
  return [
    "definition:",
    ...(keys.length === 0 ? [] : [`  workflow: ${keys.join(", ")}`]),
    ...(secrets.length === 0 ? [] : [`  secrets of one alone: ${secrets.join(", ")}`]),
    ...steps
      .slice(0, SHOWN)
      .map(({ step, change, keys: of }) => `  ${step}: ${change === "changed" ? of.join(", ") : change}`),
    ...moreLines(steps.length + left_off),
  ];
}

function inputLines({ inputs }: Comparison): string[] {
  if (inputs.length === 0) return ["inputs: the same"];
  const shown = (value: unknown): string => oneLine(JSON.stringify(value), 60);
  return [
    "inputs:",
    ...inputs.slice(0, SHOWN).map(({ name, run, other }) => `  ${name}: ${shown(run)}, was ${shown(other)}`),
    ...moreLines(inputs.length),
  ];
}

function timeLines({ times, run, other }: Comparison, width: number): string[] {
  const shown = (ms: number | null): string => (ms === null ? "-" : durationText(ms));
  const rows = times
    .slice(0, SHOWN)
    .map(({ step, run_ms, other_ms }) => [step, shown(run_ms), shown(other_ms)]);
  if (rows.length === 0) return [];
  return [
    "",
    ...tableLines(["step", `run ${run.run_id}`, `run ${other.run_id}`], rows, width),
    ...moreLines(times.length),
  ];
}

function outcomeLines({ outcomes: { jobs, left_off }, run, other }: Comparison, width: number): string[] {
  if (jobs.length === 0) return ["", "every job ended the same"];
  const shown = (job: Comparison["outcomes"]["jobs"][number]["run"]): string =>
    job === null ? "-" : job.status;
  const rows = jobs
    .slice(0, SHOWN)
    .map((job) => [nameOf(job.step, job.scope), shown(job.run), shown(job.other)]);
  const header = ["ended otherwise", `run ${run.run_id}`, `run ${other.run_id}`];
  return ["", ...tableLines(header, rows, width), ...moreLines(jobs.length + left_off)];
}

function logLines({ logs, outcomes, run, other }: Comparison, width: number): string[] {
  const [first] = outcomes.jobs;
  if (logs === null || first === undefined) return [];
  const columnOf = (id: number, log: typeof logs.run): string[] => [
    log === null ? `run ${id}: no log` : `run ${id}: ${log.stream} of attempt ${log.attempt}`,
    ...(log?.lines ?? []).map((line) => oneLine(line)),
  ];
  const [left, right] = [columnOf(run.run_id, logs.run), columnOf(other.run_id, logs.other)];
  const half = Math.min(MAX_COLUMN, Math.max(MIN_COLUMN, Math.floor((width - BETWEEN.length) / 2)));
  const used = Math.min(half, Math.max(...left.map((line) => textWidth(line))));
  const rows = Array.from({ length: Math.max(left.length, right.length) }, (_, place) => {
    const [before, after] = [cutTo(left[place] ?? "", half), cutTo(right[place] ?? "", half)];
    return `${padTo(before, used)}${BETWEEN}${after}`.trimEnd();
  });
  return ["", `end of the logs of ${nameOf(first.step, first.scope)}:`, ...rows];
}

function moreLines(count: number): string[] {
  return count > SHOWN ? [`  and ${count - SHOWN} more; --json has them`] : [];
}
