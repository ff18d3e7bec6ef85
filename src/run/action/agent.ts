import { existsSync } from "node:fs";
import type { ActionDefinition } from "../../core/model/definition.js";
import { type Failed, type Outcome, withRemark } from "../../core/model/outcome.js";
import { type Shell, shellArgv } from "../../core/model/shell.js";
import type { Json } from "../../core/text/json.js";
import { stripAnsi } from "../../core/text/plain-text.js";
import type { AgentProfileName, PromptChannel } from "../../file/fields/agent-fields.js";
import { TailCapture } from "../process/output-capture.js";
import type { ProcessHost } from "../process/process-host.js";
import type { Action, Attempt, AttemptPrompt } from "./action.js";
import { createCommandAction } from "./command.js";

/** How a well-known agent program is called without anybody at the keyboard. */
interface AgentProfile {
  readonly argv: readonly string[];
  readonly promptVia: PromptChannel;
  /** Set unless the step sets them itself. */
  readonly env: { readonly [name: string]: string };
  /** Variables of which it needs one, unless somebody has logged in to it before. */
  readonly keys: readonly string[];
  /** Its answer in the last line that it prints, where the lines before are a transcript for machines. */
  readonly answerIn?: (lastLine: Json) => Json | undefined;
}

/** Each may edit files in its folder without asking. Workflows that want another behaviour use `exec`. */
export const PROFILES: { readonly [name in AgentProfileName]: AgentProfile } = {
  aider: {
    argv: ["aider", "--yes-always", "--no-auto-commits", "--message-file", "{prompt_file}"],
    promptVia: "file",
    env: { AIDER_CHECK_UPDATE: "false", AIDER_ANALYTICS: "false" },
    keys: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"],
  },
  claude: {
    // As a stream of JSON lines, because plain text only comes at the end and looks like silence until then.
    argv: [
      ...["claude", "-p", "--permission-mode", "acceptEdits"],
      ...["--output-format", "stream-json", "--verbose"],
    ],
    promptVia: "stdin",
    env: {},
    keys: ["ANTHROPIC_API_KEY"],
    answerIn: resultOf,
  },
  codex: {
    argv: ["codex", "exec", "--sandbox", "workspace-write", "--skip-git-repo-check", "-"],
    promptVia: "stdin",
    env: {},
    keys: ["CODEX_API_KEY", "OPENAI_API_KEY"],
  },
  gemini: {
    argv: ["gemini", "--approval-mode", "auto_edit"],
    promptVia: "stdin",
    env: {},
    keys: ["GEMINI_API_KEY", "GOOGLE_API_KEY"],
  },
  goose: {
    argv: ["goose", "run", "--no-session", "-i", "-"],
    promptVia: "stdin",
    env: { GOOSE_MODE: "auto" },
    keys: ["OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GOOGLE_API_KEY"],
  },
  opencode: {
    argv: ["opencode", "run"],
    promptVia: "argument",
    env: {},
    keys: ["ANTHROPIC_API_KEY", "OPENAI_API_KEY"],
  },
};

function resultOf(lastLine: Json): Json | undefined {
  if (lastLine === null || typeof lastLine !== "object" || Array.isArray(lastLine)) return undefined;
  const { type, result } = lastLine as { readonly [key: string]: Json };
  return type === "result" ? result : undefined;
}

interface AgentCommand {
  readonly exec: string | readonly string[];
  /** The shell of a text. */
  readonly shell: Shell | undefined;
  readonly stdin: string | null;
}

const PROMPT_MARK = "{prompt}";
/** In a shell line the placeholder stands for a whole word, whether or not its author put quotes around it. */
const SHELL_PROMPT = /"\{prompt\}"|'\{prompt\}'|\{prompt\}/g;
const SHELL_FILE = /"\{prompt_file\}"|'\{prompt_file\}'|\{prompt_file\}/g;

function profileOf(action: ActionDefinition): AgentProfile | null {
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

/** How much of the transcript's end is searched for the answer. */
const ANSWER_TAIL_BYTES = 256 * 1024;

/** The `agent` step: a command-line agent, run exactly like a command, with an assembled prompt. */
export function createAgentAction(host: ProcessHost): Action {
  const command = createCommandAction(host);
  return { type: "agent", run: (attempt) => runAgent(command, attempt) };
}

async function runAgent(command: Action, attempt: Attempt): Promise<Outcome<Json>> {
  const { prompt } = attempt;
  if (prompt === undefined)
    return { kind: "failed", facts: { code: "REQUEST_INVALID", message: "the agent was given no prompt" } };
  const profile = profileOf(attempt.action);
  const { exec, shell, stdin } = agentCommand(attempt.action, prompt);
  const transcriptEnd = new TailCapture(ANSWER_TAIL_BYTES);
  const result = await command.run({
    ...attempt,
    action: {
      type: "command",
      exec,
      ...(shell === undefined ? {} : { shell }),
      ...(stdin === null ? {} : { stdin }),
    },
    env: { ...profile?.env, ...attempt.env, DARUMA_PROMPT_FILE: prompt.file },
    writeStdout: (chunk) => {
      if (profile?.answerIn !== undefined) transcriptEnd.push(Buffer.from(chunk));
      attempt.writeStdout(chunk);
    },
  });
  if (result.kind === "failed") return profile === null ? result : explain(result, profile, attempt);
  if (result.kind !== "succeeded" || profile?.answerIn === undefined || existsSync(attempt.outputFile))
    return result;
  const answer = answerOf(transcriptEnd.text(attempt.hideSecrets), profile.answerIn);
  return answer === undefined ? result : { ...result, output: answer };
}

function answerOf(transcriptEnd: string, answerIn: NonNullable<AgentProfile["answerIn"]>): Json | undefined {
  const lines = stripAnsi(transcriptEnd).split(/[\r\n]+/);
  try {
    return answerIn(JSON.parse(lines.findLast((line) => line.trim() !== "") ?? "") as Json);
  } catch {
    return undefined;
  }
}

/** What is most often missing when a ready-made agent does not even begin. */
function explain(
  result: Failed<Json>,
  { argv, keys }: AgentProfile,
  { action, env }: Attempt,
): Outcome<Json> {
  const { facts } = result;
  if (facts.code === "SPAWN_ERROR" && facts.errno === "ENOENT" && action.exec === undefined) {
    return { ...result, facts: withRemark(facts, ` (is ${argv[0]} installed and in PATH?)`) };
  }
  if (facts.exitCode === undefined || keys.some((name) => env[name])) return result;
  return { ...result, facts: withRemark(facts, ` (not set: ${keys.join(", ")})`) };
}
