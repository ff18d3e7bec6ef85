import type { StatsAnswer } from "../../operations/runs/get-stats.js";
import { durationText } from "../../tell/words/duration-text.js";
import { helperText } from "../../tell/words/remedy-words.js";
import { tableLines } from "./columns.js";
import type { Paint } from "./paint.js";

const INDENT = "  ";

const OUTCOMES: readonly (readonly [keyof StatsAnswer["outcomes"], string])[] = [
  ["at_once", "completed without a failure"],
  ["rescued", "rescued"],
  ["handled", "completed with a handled failure"],
  ["held", "held"],
  ["failed", "failed"],
  ["canceled", "canceled"],
  ["active", "active"],
];

/** Sums up runs: how they ended, what helped, how much failed and was retried, and what that cost. */
export function statsLines(stats: StatsAnswer, width: number, paint: Paint): string[] {
  const lines = headLines(stats);
  for (const { title, header, rows } of tablesOf(stats)) {
    if (rows.length === 0) continue;
    const table = tableLines(header, rows, width - INDENT.length);
    lines.push(title, ...table.map((line, index) => INDENT + (index === 0 ? paint("dim", line) : line)));
  }
  return lines;
}

function headLines(stats: StatsAnswer): string[] {
  const {
    runs,
    attempts,
    retries,
    timeouts,
    attempts_until_success: tries,
    recovery_scripts,
    decisions,
  } = stats;
  const outcomes = OUTCOMES.filter(([name]) => stats.outcomes[name] > 0);
  return [
    `${count(runs, "run")}, ${count(attempts, "attempt")}, ${retries} of them retries (${percent(stats.retry_rate)})`,
    ...(outcomes.length === 0
      ? []
      : [`runs: ${outcomes.map(([name, words]) => `${stats.outcomes[name]} ${words}`).join(", ")}`]),
    `attempts until success: ${tries === null ? "nothing completed" : `${tries.toFixed(2)} on average`}`,
    `time: ${durationText(stats.running_ms)} running, ${durationText(stats.lost_ms)} of it in attempts that did not succeed; ${durationText(stats.retry_waiting_ms)} waiting for retries`,
    `timeouts: ${timeouts.wall} wall, ${timeouts.idle} idle`,
    `recovery scripts: ${recovery_scripts.run} run, ${recovery_scripts.failed} failed`,
    ...(decisions.median_ms === null
      ? []
      : [
          `decided: ${count(decisions.holds, "hold")} and ${count(decisions.questions, "question")}, after a median of ${durationText(decisions.median_ms)}`,
        ]),
  ];
}

interface Shown {
  readonly title: string;
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

function tablesOf(stats: StatsAnswer): Shown[] {
  return [
    {
      title: "what helped:",
      header: ["by", "rescued", "not rescued"],
      rows: stats.rungs.map(({ by, rescued, not_rescued }) => [
        helperText(by),
        String(rescued),
        String(not_rescued),
      ]),
    },
    {
      title: "by action:",
      header: ["action", "attempts", "failed", "retries", "retry rate"],
      rows: stats.by_action.map(({ action, attempts, failed, retries, retry_rate }) => [
        ...[action, String(attempts), String(failed), String(retries), percent(retry_rate)],
      ]),
    },
    {
      title: "by error:",
      header: ["code", "class", "count", "of all attempts"],
      rows: stats.errors.map(({ code, class: failureClass, count, rate }) => [
        ...[code, failureClass, String(count), percent(rate)],
      ]),
    },
    {
      title: "by workflow:",
      header: ["workflow", "runs", "running", "lost", "waiting"],
      rows: stats.by_workflow.map(({ workflow, runs, running_ms, lost_ms, retry_waiting_ms }) => [
        ...[workflow, String(runs), durationText(running_ms)],
        ...[durationText(lost_ms), durationText(retry_waiting_ms)],
      ]),
    },
    {
      title: "by worker:",
      header: ["worker", "attempts", "failed", "lost"],
      rows: stats.by_worker.map(({ worker, attempts, failed, lost }) => [
        ...[worker, String(attempts), String(failed), String(lost)],
      ]),
    },
    {
      title: "by model:",
      header: ["model", "step", "workflow", "calls", "tokens in", "tokens out"],
      rows: stats.models.map(({ model, step, workflow, calls, input_tokens, output_tokens }) => [
        ...[model, step, workflow, String(calls), String(input_tokens), String(output_tokens)],
      ]),
    },
  ];
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(1)} %`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
