import { oneLine } from "../../core/plain-text.js";
import { nameOf } from "../../operations/job-name.js";
import type { JobRecord } from "../../operations/job-record.js";
import { shellWord } from "../../operations/shell-word.js";
import type { CommandLine } from "../command-words.js";
import type { Paint } from "./paint.js";
import { harmlessLines } from "./text-width.js";

export interface HoldLook {
  readonly paint: Paint;
  readonly commandLine: CommandLine;
  /** Runs that a server goes on with by itself. */
  readonly serversRuns: ReadonlySet<number>;
}

const INDENT = "  ";
/** Enough to see what happened; `daruma logs` has the rest. */
const MAX_STDERR_LINES = 20;

/** Each hold with what failed and its last words, and once a run how to resolve them. */
export function holdLines(holds: readonly JobRecord[], look: HoldLook): string[] {
  const runs = [...new Set(holds.map(({ run_id }) => run_id))];
  return runs.flatMap((runId, index) => {
    const ofRun = holds.filter((hold) => hold.run_id === runId);
    return [
      ...(index === 0 ? [] : [""]),
      ...ofRun.flatMap((hold) => oneHold(hold, look)),
      ...resolveLines(ofRun, look),
    ];
  });
}

function oneHold(hold: JobRecord, { paint }: HoldLook): string[] {
  const { run_id, id, step, scope, error, attempts } = hold;
  const why = error === null ? "failed" : `${oneLine(error.message)} (${error.code}, ${error.class})`;
  const dead = hold.dead_letter ? ", given up by the queue (a dead letter)" : "";
  const tries = `after ${attempts} attempt${attempts === 1 ? "" : "s"}${dead}`;
  const lines = [
    `${paint("yellow", nameOf(step, scope))} (run ${run_id}, job ${id}) is held ${tries}: ${why}`,
  ];
  const printed = error?.stderr_tail.trimEnd() ?? "";
  if (printed !== "")
    lines.push(
      ...harmlessLines(printed)
        .slice(-MAX_STDERR_LINES)
        .map((line) => `${INDENT}${paint("dim", "|")} ${line}`),
    );
  return lines;
}

function resolveLines(holds: readonly JobRecord[], { commandLine, serversRuns }: HoldLook): string[] {
  const [first] = holds;
  if (first === undefined) return [];
  const { run_id } = first;
  const what = holds.length > 1 ? "--all" : shellWord(nameOf(first.step, first.scope));
  const reason = '--reason "..."';
  const line = (action: string): string => commandLine(`resolve ${run_id} ${what} ${action} ${reason}`);
  const it = holds.length > 1 ? "them" : "it";
  const rows = [
    [`to run ${it} again:`, line("--retry")],
    [`to let ${it} fail:`, `${line("--fail")}  (or --skip, or --complete JSON)`],
    ["then:", serversRuns.has(run_id) ? "the server goes on with it" : commandLine(`resume ${run_id}`)],
  ] as const;
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, command]) => `${label.padEnd(width)}  ${command}`);
}
