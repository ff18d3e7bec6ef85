import type { Json } from "../../core/text/json.js";
import type { AgentProfileName, PromptChannel } from "../../file/fields/agent-fields.js";

/** How a well-known agent program is called without anybody at the keyboard. */
export interface AgentProfile {
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
