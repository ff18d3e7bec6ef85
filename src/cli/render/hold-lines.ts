import { besideOf, excerptOf } from "../../core/model/excerpt.js";
import { isOneOfSeveral, writtenStep } from "../../core/model/written-step.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { WaitingJob } from "../../tell/holds.js";
import { listNames, nameOf } from "../../tell/lookup/job-name.js";
import { thenText } from "../../tell/words/expiry-text.js";
import { shellWord } from "../../tell/words/shell-word.js";
import type { CommandLine } from "../declare/command-words.js";
import { clockTime } from "./clock-time.js";
import { harmlessLines } from "./columns.js";
import { alike } from "./failed-steps.js";
import type { Paint } from "./paint.js";

export interface HoldLook {
  readonly paint: Paint;
  readonly commandLine: CommandLine;
  /** Runs that a server continues by itself. */
  readonly serversRuns: ReadonlySet<number>;
  /** The runs are on another machine: their paths mean nothing here, and a decision is only recorded there. */
  readonly isElsewhere: boolean;
}

const INDENT = "  ";
/** Enough to see what happened. `daruma logs` has the rest. */
const MAX_LINES = 10;
const MAX_WAYS_BACK = 3;

/**
 * Describes holds and questions with what a decision needs, and the commands to decide: once per run for holds, once
 * for each question.
 */
export function holdLines(waiting: readonly WaitingJob[], look: HoldLook): string[] {
  const runs = [...new Set(waiting.map(({ run_id }) => run_id))];
  return runs.flatMap((runId, index) => {
    const ofRun = waiting.filter((each) => each.run_id === runId);
    const holds = ofRun.filter(({ kind }) => kind === "hold");
    return [
      ...(index === 0 ? [] : [""]),
      ...ofRun.flatMap((each) => (each.kind === "question" ? oneQuestion(each, look) : [])),
      ...alike(holds, likeness).flatMap((group) => heldAlike(group, look)),
      ...resolveLines(holds, look),
    ];
  });
}

/** The item with its decisions as commands to type. */
export function withCommands<T extends Decided>(waiting: T, type: CommandLine): T {
  const decisions = waiting.decisions.map((each) => ({
    ...each,
    command: type(decisionWords(waiting, each)),
  }));
  return { ...waiting, decisions };
}

type Decided = Pick<WaitingJob, "kind" | "run_id" | "step" | "scope"> & {
  readonly decisions: readonly Way[];
};
type Way = Pick<WaitingJob["decisions"][number], "decision" | "operation" | "input">;

/** The words after `daruma` that make this decision. */
function decisionWords(
  { kind, run_id, step, scope }: Pick<WaitingJob, "kind" | "run_id" | "step" | "scope">,
  { decision, operation, input }: Way,
): string {
  if (operation === "control_run") return sendBackWords({ input });
  const job = shellWord(nameOf(step, scope));
  return kind === "question"
    ? `answer ${run_id} ${job} --choose ${shellWord(decision)}`
    : `resolve ${run_id} ${job} --${decision}`;
}

/** Each sends the work back to a step that did it, with room for what that is to do differently. */
export function sendBackCommands({ decisions }: Pick<WaitingJob, "decisions">): string[] {
  return decisions.filter(({ operation }) => operation === "control_run").map(sendBackWords);
}

function sendBackWords({ input: { run_id, step_id, files } }: Pick<Way, "input">): string {
  const kept = files === undefined ? "" : ` --files ${files}`;
  return `resume-from ${run_id} ${shellWord(String(step_id))}${kept} --hint "..."`;
}

function oneQuestion(asking: WaitingJob, { paint, commandLine }: HoldLook): string[] {
  const { run_id, id, step, scope, since, expiry, question, decisions } = asking;
  const until =
    expiry === null ? "" : ` (answer by ${clockTime(expiry.at)} UTC, then ${oneLine(thenText(expiry))})`;
  const prompt = harmlessLines(question!.prompt.trim());
  return [
    `${paint("cyan", nameOf(step, scope))} (run ${run_id}, job ${id}) asked at ${clockTime(since)} UTC${until}:`,
    ...prompt.map((line) => `${INDENT}${paint("dim", "|")} ${line}`),
    ...columns(
      decisions.map((each) => [
        `to answer ${oneLine(each.decision)}:`,
        commandLine(decisionWords(asking, each)),
      ]),
    ),
  ];
}

/** A key that is equal for holds that come from one step of the file and failed in the same way. */
function likeness(hold: WaitingJob): string {
  return isOneOfSeveral(hold)
    ? JSON.stringify([writtenStep(hold), hold.dead_letter, hold.error?.signature ?? null])
    : String(hold.id);
}

function heldAlike(group: readonly WaitingJob[], { paint }: HoldLook): string[] {
  const [hold, ...others] = group as readonly [WaitingJob, ...WaitingJob[]];
  const { run_id, id, step, scope, error, attempts } = hold;
  const [expiry = null] = group.flatMap((each) => each.expiry ?? []).sort((a, b) => (a.at < b.at ? -1 : 1));
  const printed = error === null ? [] : excerptOf(error, MAX_LINES);
  const why =
    error === null ? "failed" : `${oneLine(besideOf(error, printed))} (${error.code}, ${error.class})`;
  const dead = hold.dead_letter ? ", given up by the queue (a dead letter)" : "";
  const tries = `after ${attempts} attempt${attempts === 1 ? "" : "s"}${dead}`;
  return [
    `${paint("yellow", nameOf(step, scope))} (run ${run_id}, job ${id}) is held ${tries}: ${why}`,
    ...(others.length === 0
      ? []
      : [
          `${INDENT}so ${others.length === 1 ? "is" : "are"} ${listNames(others, (each) => nameOf(each.step, each.scope))}`,
        ]),
    ...printed.map(({ text }) => `${INDENT}${paint("dim", "|")} ${text}`),
    ...(expiry === null ? [] : [`${INDENT}decide by ${clockTime(expiry.at)} UTC, then ${thenText(expiry)}`]),
  ];
}

function resolveLines(holds: readonly WaitingJob[], look: HoldLook): string[] {
  const [first] = holds;
  if (first === undefined) return [];
  const { commandLine } = look;
  const { run_id } = first;
  const follows = whatFollows(first, look);
  const what = holds.length > 1 ? "--all" : shellWord(nameOf(first.step, first.scope));
  const reason = '--reason "..."';
  const line = (action: string): string => commandLine(`resolve ${run_id} ${what} ${action} ${reason}`);
  const it = holds.length > 1 ? "them" : "it";
  const back = [...new Set(holds.flatMap(sendBackCommands))].slice(0, MAX_WAYS_BACK);
  return columns([
    [`to run ${it} again:`, line("--retry")],
    ...back.map((command) => ["to send the work back:", commandLine(command)] as const),
    [`to let ${it} fail:`, `${line("--fail")}  (or --skip, or --complete JSON)`],
    ...(follows === null ? [] : [["then:", follows] as const]),
  ]);
}

/**
 * How the run goes on after the decision. One that a process runs need not be resumed. Null if the decision itself
 * continues it.
 */
function whatFollows(
  { run_id, owner }: WaitingJob,
  { commandLine, serversRuns, isElsewhere }: HoldLook,
): string | null {
  if (serversRuns.has(run_id)) return "the server goes on with it";
  if (owner !== null) return `process ${owner.pid} on ${owner.host} goes on with it`;
  return isElsewhere ? commandLine(`resume ${run_id}`) : null;
}

function columns(rows: readonly (readonly [string, string])[]): string[] {
  const width = Math.max(...rows.map(([label]) => label.length));
  return rows.map(([label, command]) => `${label.padEnd(width)}  ${command}`);
}
