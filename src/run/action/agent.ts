import { existsSync } from "node:fs";
import { type Failed, type Outcome, withRemark } from "../../core/model/outcome.js";
import type { Json } from "../../core/text/json.js";
import { stripAnsi } from "../../core/text/plain-text.js";
import { TailCapture } from "../process/output-capture.js";
import type { ProcessHost } from "../process/process-host.js";
import type { Action, Attempt } from "./action.js";
import { agentCommand, profileOf } from "./agent-command.js";
import type { AgentProfile } from "./agent-profiles.js";
import { createCommandAction } from "./command.js";

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
