import type { Sandbox, SandboxResult } from "../sandbox/sandbox.js";
import type { Action, ActionResult, Attempt } from "./action.js";
import { stoppedResult } from "./stopped-result.js";

export const MAX_SCRIPT_BYTES = 262_144;
export const DEFAULT_SCRIPT_TIMEOUT_MS = 1_000;

/** Runs `content` where it can do no harm; what it returns is the output. */
export function createScriptAction(sandbox: Sandbox): Action {
  return { type: "script", silent: true, run: (attempt) => runScript(sandbox, attempt) };
}

async function runScript(sandbox: Sandbox, attempt: Attempt): Promise<ActionResult> {
  const content = attempt.action.content;
  if (typeof content !== "string") return scriptError("`content` is not a text");
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_SCRIPT_BYTES)
    return scriptError(`the script has ${bytes} bytes, more than ${MAX_SCRIPT_BYTES}`);
  const timeoutMs = attempt.timeoutMs ?? DEFAULT_SCRIPT_TIMEOUT_MS;
  const result = await sandbox.evaluate({
    code: content,
    variables: attempt.variables,
    now: attempt.startedAt,
    expects: "json",
    budgetMs: timeoutMs,
    deadlineMs: timeoutMs,
    signal: attempt.signal,
  });
  return result.ok ? { ok: true, output: result.value } : failed(result, attempt, timeoutMs);
}

function failed(result: SandboxResult & { ok: false }, attempt: Attempt, timeoutMs: number): ActionResult {
  if (attempt.signal.aborted) return stoppedResult(attempt);
  if (result.code === "EXPRESSION_TIMEOUT") {
    return { ok: false, failure: { message: `the script ran longer than ${timeoutMs} ms`, timeout: "wall" } };
  }
  return scriptError(result.reason, result.stack);
}

function scriptError(message: string, stack?: string): ActionResult {
  return { ok: false, failure: { message, code: "SCRIPT_ERROR", ...(stack === undefined ? {} : { stack }) } };
}
