import { MAX_SCRIPT_BYTES } from "../../core/model/action-traits.js";
import type { Outcome } from "../../core/model/outcome.js";
import { durationAmount } from "../../core/text/amount-text.js";
import type { Json } from "../../core/text/json.js";
import type { Sandbox, SandboxResult } from "../sandbox/sandbox.js";
import { type Action, type Attempt, stoppedResult } from "./action.js";

/** What a script may compute without a `timeout_ms`. Counted, not measured: a busy machine takes nothing away from it. */
export const DEFAULT_SCRIPT_BUDGET_MS = 1_000;
/** Builtins are not counted, and reading large variables takes its time; this ends whatever goes on all the same. */
export const DEFAULT_SCRIPT_DEADLINE_MS = 30_000;

/** Runs `content` where it can do no harm; what it returns is the output. */
export function createScriptAction(sandbox: Sandbox): Action {
  return { type: "script", silent: true, run: (attempt) => runScript(sandbox, attempt) };
}

async function runScript(sandbox: Sandbox, attempt: Attempt): Promise<Outcome<Json>> {
  const content = attempt.action.content;
  if (typeof content !== "string") return scriptError("`content` is not a text");
  const bytes = Buffer.byteLength(content);
  if (bytes > MAX_SCRIPT_BYTES)
    return scriptError(`the script has ${bytes} bytes, more than ${MAX_SCRIPT_BYTES}`);
  const { timeoutMs } = attempt;
  const result = await sandbox.evaluate({
    code: content,
    variables: attempt.variables,
    now: attempt.startedAt,
    expects: "json",
    budgetMs: timeoutMs === null ? DEFAULT_SCRIPT_BUDGET_MS : Number.POSITIVE_INFINITY,
    deadlineMs: timeoutMs ?? DEFAULT_SCRIPT_DEADLINE_MS,
    signal: attempt.signal,
  });
  return result.ok ? { kind: "succeeded", output: result.value } : failed(result, attempt);
}

function failed(result: SandboxResult & { ok: false }, attempt: Attempt): Outcome<Json> {
  if (attempt.signal.aborted) return stoppedResult(attempt);
  if (result.code === "EXPRESSION_TIMEOUT") {
    const { timeoutMs } = attempt;
    const message =
      timeoutMs === null
        ? `the script ran for longer than ${durationAmount(DEFAULT_SCRIPT_BUDGET_MS)}; give the step a timeout_ms to let it run longer`
        : `the script ran longer than ${durationAmount(timeoutMs)}`;
    return { kind: "failed", facts: { message, timeout: "wall" } };
  }
  return scriptError(result.reason, result.stack);
}

function scriptError(message: string, stack?: string): Outcome<Json> {
  return {
    kind: "failed",
    facts: { message, code: "SCRIPT_ERROR", ...(stack === undefined ? {} : { stack }) },
  };
}
