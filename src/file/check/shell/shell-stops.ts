import type { StepDefinition } from "../../../core/model/definition.js";
import { BASH_OR_SH, noticesPipes, type Shell, stopsAtFailure } from "../../../core/model/shell.js";
import type { Json } from "../../../core/text/json.js";
import type { RawStep } from "../../fields/read-step.js";
import type { StepEntry } from "../../fields/step-entries.js";
import { childPath, type Path } from "../../read/path.js";
import { placeInText } from "../../read/placed-text.js";
import type { Findings } from "../../read/problem.js";
import { findEntry, type SourceNode } from "../../read/source-tree.js";
import { type ShellCommand, shellCommands, shellTokens } from "./shell-commands.js";

interface ShellWarning {
  readonly code: "SHELL_STOPS" | "PIPE_HIDES" | "NEEDS_BASH";
  readonly message: string;
  readonly hint: string;
  readonly at: number;
}

/** What cannot fail, so that nothing is hidden where it stands before a pipe. */
const HARMLESS: ReadonlySet<string> = new Set(["echo", "printf", "true", ":"]);
const ENDS_LINE: ReadonlySet<string> = new Set([";", "\n"]);
const ENDS_BLOCK: ReadonlySet<string> = new Set(["exit", "return"]);

/** Warns of texts that mean something else under the shell that they get than their author thinks. */
export function warnOfShells(
  entries: readonly StepEntry[],
  steps: readonly StepDefinition[],
  findings: Findings,
): void {
  let shells: ReadonlyMap<string, Json | undefined> | null = null;
  for (const { id, raw } of entries) {
    const exec = raw?.action.exec;
    // Most texts have neither; thousands of steps need no closer look.
    if (raw === null || typeof exec !== "string" || !/\||\$\?/.test(exec)) continue;
    shells ??= new Map(steps.map((step) => [step.id, step.action.shell]));
    const shell = shells.get(id);
    const place = placeOfExec(raw);
    // Jobs of the batch form go on after a failing line, as Torc's do.
    if (shell === undefined || shell === BASH_OR_SH || place?.node.kind !== "scalar") continue;
    for (const { at, ...warning } of shellWarnings(exec, shell as Shell)) {
      const { node, path } = place;
      const inside = placeInText({ language: "template", text: exec, node, path }, at);
      findings.warn({ ...warning, at: node.at, path, inside });
    }
  }
}

function placeOfExec({ node, path }: RawStep): { readonly node: SourceNode; readonly path: Path } | null {
  const own = findEntry(node, "implementation")?.value;
  const [holder, at] = own?.kind === "map" ? [own, childPath(path, "implementation")] : [node, path];
  const entry = findEntry(holder, "exec");
  return entry === undefined ? null : { node: entry.value, path: childPath(at, "exec") };
}

/** At most one of each kind: who corrects one finds the others. */
export function shellWarnings(text: string, shell: Shell): readonly ShellWarning[] {
  if (!stopsAtFailure(shell)) return [];
  const lists = shellTokens(text).map(shellCommands);
  const stops = first(lists, statusAfterStop);
  const refused = noticesPipes(shell) ? null : first(lists, pipefail);
  // A shell that notices failures within pipes, such as bash, needs no warning.
  const hides = noticesPipes(shell) || refused !== null ? null : first(lists, hidingPipe);
  return [
    ...(stops === null ? [] : [{ ...STOPS, at: stops }]),
    ...(refused === null ? [] : [{ ...REFUSED, at: refused }]),
    ...(hides === null ? [] : [{ ...HIDES, at: hides }]),
  ];
}

const STOPS = {
  code: "SHELL_STOPS",
  message: "`$?` is never anything but 0 here: the step ends at the command before it if that fails",
  hint: "Write `COMMAND || code=$?`, or `if COMMAND; then`, or `set +e` before the command.",
} as const;
const REFUSED = {
  code: "NEEDS_BASH",
  message: "`sh` knows no `pipefail` on many machines, and the step fails here",
  hint: "Add `shell: bash`, which sets `-e` and `pipefail` by itself.",
} as const;
const HIDES = {
  code: "PIPE_HIDES",
  message: "a failure before this pipe is not noticed: `sh` looks only at the last command",
  hint: "Add `shell: bash`, which notices all of them.",
} as const;

function first(
  lists: readonly (readonly ShellCommand[])[],
  find: (commands: readonly ShellCommand[]) => number | null,
): number | null {
  for (const commands of lists) {
    const found = find(commands);
    if (found !== null) return found;
  }
  return null;
}

/** `grep -q x f; if [ $? -eq 0 ]`: a plain command, then one that reads how it ended. */
function statusAfterStop(commands: readonly ShellCommand[]): number | null {
  let stops = true;
  for (const [place, command] of commands.entries()) {
    const [name, option = ""] = command.words.map(({ text }) => text);
    if (name === "set" && /^[+-][a-z]*e/.test(option)) stops = option.startsWith("-");
    const next = commands[place + 1];
    const isPlain = !command.isCondition && !command.isClosing && !/^(?:&&|\|\|)$/.test(command.before);
    if (!stops || !isPlain || next == null || next.status === null || !ENDS_LINE.has(command.after)) continue;
    if (!ENDS_BLOCK.has(next.words[0]?.text ?? "")) return next.status;
  }
  return null;
}

/** `set -euo pipefail`, the first line of many scripts. */
function pipefail(commands: readonly ShellCommand[]): number | null {
  for (const { words, after } of commands) {
    // Here the script checks whether `set` works, and continues without it.
    if (words[0]?.text !== "set" || after === "||") continue;
    const found = words.find(({ text }) => text === "pipefail");
    if (found !== undefined) return found.at;
  }
  return null;
}

function hidingPipe(commands: readonly ShellCommand[]): number | null {
  for (const [place, command] of commands.entries()) {
    if (!command.after.startsWith("|") || command.after === "||" || command.isCondition) continue;
    if (HARMLESS.has(command.words[0]?.text ?? "") || isMeantToPass(commands, place)) continue;
    return command.end;
  }
  return null;
}

/** `a | b || true`: the author accepts the failure. */
function isMeantToPass(commands: readonly ShellCommand[], place: number): boolean {
  let last = place;
  while (commands[last]?.after === "|" || commands[last]?.after === "|&") last++;
  const after = commands[last + 1];
  return commands[last]?.after === "||" && /^(?:true|:)$/.test(after?.words[0]?.text ?? "");
}
