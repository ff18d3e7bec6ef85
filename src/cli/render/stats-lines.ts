import type { RunStats } from "../../report/run-stats.js";
import { durationText } from "../../report/words/duration-text.js";
import type { Paint } from "./paint.js";
import { tableLines } from "./table.js";

const INDENT = "  ";

/** What runs added up to: how much failed, how much was retried, and what that cost. */
export function statsLines(stats: RunStats, width: number, paint: Paint): string[] {
  const { runs, attempts, retries, timeouts, attempts_until_success: tries, recovery_scripts } = stats;
  const table = (header: readonly string[], rows: readonly (readonly string[])[]): string[] =>
    tableLines(header, rows, width - INDENT.length).map(
      (line, index) => INDENT + (index === 0 ? paint("dim", line) : line),
    );
  const lines = [
    `${count(runs, "run")}, ${count(attempts, "attempt")}, ${retries} of them retries (${percent(stats.retry_rate)})`,
    `attempts until success: ${tries === null ? "nothing completed" : `${tries.toFixed(2)} on average`}`,
    `time: ${durationText(stats.running_ms)} running, ${durationText(stats.retry_waiting_ms)} waiting for retries`,
    `timeouts: ${timeouts.wall} wall, ${timeouts.idle} idle`,
    `recovery scripts: ${recovery_scripts.run} run, ${recovery_scripts.failed} failed`,
  ];
  if (stats.by_action.length > 0)
    lines.push(
      "by action:",
      ...table(
        ["action", "attempts", "failed", "retries", "retry rate"],
        stats.by_action.map(({ action, attempts, failed, retries, retry_rate }) => [
          action,
          String(attempts),
          String(failed),
          String(retries),
          percent(retry_rate),
        ]),
      ),
    );
  if (stats.errors.length > 0)
    lines.push(
      "by error:",
      ...table(
        ["code", "class", "count", "of all attempts"],
        stats.errors.map(({ code, class: failureClass, count, rate }) => [
          code,
          failureClass,
          String(count),
          percent(rate),
        ]),
      ),
    );
  return lines;
}

function percent(rate: number): string {
  return `${(rate * 100).toFixed(1)} %`;
}

function count(number: number, noun: string): string {
  return `${number} ${noun}${number === 1 ? "" : "s"}`;
}
