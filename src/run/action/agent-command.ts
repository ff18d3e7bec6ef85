import type { ActionDefinition } from "../../core/model/definition.js";
import { type Shell, shellArgv } from "../../core/model/shell.js";
import type { AgentProfileName, PromptChannel } from "../../file/fields/agent-fields.js";
import type { AttemptPrompt } from "./action.js";
import { type AgentProfile, PROFILES } from "./agent-profiles.js";

export interface AgentCommand {
  readonly exec: string | readonly string[];
  /** The shell of a text. */
  readonly shell: Shell | undefined;
  readonly stdin: string | null;
}

const PROMPT_MARK = "{prompt}";
/** In a shell line the placeholder stands for a whole word, whether or not its author put quotes around it. */
const SHELL_PROMPT = /"\{prompt\}"|'\{prompt\}'|\{prompt\}/g;
const SHELL_FILE = /"\{prompt_file\}"|'\{prompt_file\}'|\{prompt_file\}/g;

export function profileOf(action: ActionDefinition): AgentProfile | null {
  return typeof action.profile === "string" ? PROFILES[action.profile as AgentProfileName] : null;
}

/** The process to start: the step's own command line or its profile's, with the prompt handed over as it asks for. */
export function agentCommand(action: ActionDefinition, prompt: AttemptPrompt): AgentCommand {
  const exec = execOf(action);
  const via = (action.prompt_via ?? profileOf(action)?.promptVia ?? "stdin") as PromptChannel;
  const shell = action.shell as Shell | undefined;
  const filled =
    typeof exec === "string" ? fillLine({ line: exec, shell }, via, prompt) : fillList(exec, via, prompt);
  return { exec: filled, shell, stdin: via === "stdin" ? prompt.text : null };
}

function execOf(action: ActionDefinition): string | readonly string[] {
  return (action.exec as string | readonly string[] | undefined) ?? profileOf(action)?.argv ?? [];
}

function fillList(
  list: readonly string[],
  via: PromptChannel,
  { text, file }: AttemptPrompt,
): readonly string[] {
  const withFile = list.map((item) => item.replaceAll("{prompt_file}", () => file));
  if (via !== "argument") return withFile;
  const argument = asArgument(text);
  return list.some((item) => item.includes(PROMPT_MARK))
    ? withFile.map((item) => item.replaceAll(PROMPT_MARK, () => argument))
    : [...withFile, argument];
}

/** The prompt is an argument of the shell, not part of its line: nothing in it is read as a command. */
function fillLine(
  { line, shell }: { readonly line: string; readonly shell: Shell | undefined },
  via: PromptChannel,
  { text, file }: AttemptPrompt,
): string | readonly string[] {
  const withFile = line.replace(SHELL_FILE, () => shellWord(file));
  if (via !== "argument") return withFile;
  const whole = line.includes(PROMPT_MARK)
    ? withFile.replace(SHELL_PROMPT, () => '"$1"')
    : `${withFile} "$1"`;
  return [...shellArgv(shell), whole, "sh", asArgument(text)];
}

function shellWord(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`;
}

/** The system takes no NUL within an argument; a log that was handed on may hold one. */
function asArgument(text: string): string {
  return text.replaceAll("\0", "\ufffd");
}
