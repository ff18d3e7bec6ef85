import { relative } from "node:path";
import { passedResource } from "../../core/model/resources.js";
import { nameOf } from "../../tell/lookup/job-name.js";
import { goesOnWith } from "../../tell/lookup/run-program.js";
import { type WayBack, wayBackWords } from "../../tell/lookup/ways-back.js";
import type { FailedStep, RunSummary } from "../../tell/run-summary.js";
import { shellWord } from "../../tell/words/shell-word.js";
import type { SummaryLook } from "./summary.js";

/** More failed steps than this are retried together, as all that failed. */
const MAX_RETRIED = 3;
const HEAD = "next: ";

/** The commands that fit the end of a run, in the order to type them. Those for holds are printed below the holds. */
export function nextLines(summary: RunSummary, look: SummaryLook): string[] {
  const {
    run_id: id,
    status,
    interrupted,
    imported,
    held_below: below,
    needs_program: program,
  } = summary.report;
  const { commandLine } = look;
  if (interrupted && program !== null) return [`run ${id} ${goesOnWith(program, id)}`];
  const isPaused = status === "paused" || below.some((child) => child.status === "paused");
  if (interrupted || (isPaused && !imported)) return [`${HEAD}${commandLine(`resume ${id}`)}`];
  if (status === "failed" || status === "held") return listed(endCommands(summary, look), look);
  if (below.length > 0) return [];
  const isUnderWay = status === "pending" || status === "running";
  return isUnderWay && look.serversRuns.has(id) ? ["the server goes on with it"] : [];
}

function listed(commands: readonly string[], { commandLine }: SummaryLook): string[] {
  return commands.map(
    (command, index) => (index === 0 ? HEAD : " ".repeat(HEAD.length)) + commandLine(command),
  );
}

function endCommands(
  { report, failures, holds, reuse_file, ways_back }: RunSummary,
  look: SummaryLook,
): string[] {
  const { run_id: id, status, imported, undone } = report;
  const held = holds.filter(({ kind }) => kind === "hold");
  const codes = [...failures.map(({ code }) => code), ...held.map(({ error }) => error?.code ?? "")];
  const commands = status === "failed" ? [`explain ${id}`] : [];
  const [first] = failures;
  // On another machine the log's path would be useless, so the command is shown instead.
  if (status === "failed" && first !== undefined && first.attempt > 0 && !look.isElsewhere)
    commands.push(logsCommand(id, first));
  if (imported || undone !== null) return commands;
  if (codes.some((code) => passedResource(code) !== null)) commands.push(`recover ${id}`);
  const unanswered = failures.filter((failure) => failure.unanswered);
  if (status === "failed" && unanswered.length > 0) commands.push(retryCommand(id, unanswered));
  commands.push(...ways_back.map((way) => sendBackCommand(id, way)));
  if (held.length > 1) commands.push("inbox");
  // Not for a held run: this would begin a second run that asks for the same decision.
  if (status === "failed" && reuse_file !== null && !look.isElsewhere)
    commands.push(`run ${shellWord(shortest(reuse_file))} --reuse`);
  return commands;
}

function retryCommand(id: number, failures: readonly FailedStep[]): string {
  if (failures.length > MAX_RETRIED) return `reset ${id}`;
  return `retry ${id} ${failures.map(({ step, scope }) => shellWord(nameOf(step, scope))).join(" ")}`;
}

/** With room for what the step is to do differently. */
function sendBackCommand(id: number, way: WayBack): string {
  return `${wayBackWords(id, way).map(shellWord).join(" ")} --hint "..."`;
}

/** The path as it would be typed here. */
function shortest(file: string): string {
  const here = relative(process.cwd(), file);
  return here.length < file.length && !here.startsWith("..") ? here : file;
}

export function logsCommand(id: number, { step, scope }: FailedStep): string {
  return `logs ${id} ${step}${scope === "root" ? "" : ` --scope ${shellWord(scope)}`}`;
}
