import type { ActionDefinition } from "../../core/model/definition.js";
import type { Outcome } from "../../core/model/outcome.js";
import { durationAmount } from "../../core/text/amount-text.js";
import type { Json } from "../../core/text/json.js";
import type { HideSecrets } from "../process/output-capture.js";

/** One attempt as an action sees it. Everything in it is rendered already. */
export interface Attempt {
  readonly runId: number;
  readonly workflowId: number;
  readonly jobId: number;
  readonly stepId: string;
  readonly attempt: number;
  readonly token: string;
  /** The attempts from this one on are for the same child run: those before the present one were lost or interrupted. */
  readonly childSince?: number;
  /** The action's keys with templates rendered. */
  readonly action: ActionDefinition;
  /** The whole environment of the step: the worker's, the file's, the step's, DARUMA_*. */
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
  /** What expressions and scripts see: `{inputs, outputs, state, step, attempt, visit, loop, foreach, env, ...}`. */
  readonly variables: { readonly [name: string]: Json };
  /** Milliseconds since the epoch when the attempt started. */
  readonly startedAt: number;
  readonly timeoutMs: number | null;
  readonly idleTimeoutMs: number | null;
  readonly killGraceMs: number;
  /** Write what the step prints; redacted, streamed to the attempt's log files, and counted as a sign of life. */
  writeStdout(chunk: Uint8Array): void;
  writeStderr(chunk: Uint8Array): void;
  /** For bytes that are converted to text before the result is redacted. */
  readonly hideSecrets?: HideSecrets;
  /** For actions with a prompt. */
  readonly prompt?: AttemptPrompt;
  /** Files of this attempt whose paths a process may get. They may not exist yet. */
  readonly outputFile: string;
  readonly failureFile: string;
  /** Aborted with a StopCause as its reason. The action ends its process group and settles. */
  readonly signal: AbortSignal;
}

/** The prompt of an agent or a model: redacted, and within the budgets of contexts. */
export interface AttemptPrompt {
  readonly text: string;
  readonly system: string | null;
  /** The prompt's file, which only this user can read. */
  readonly file: string;
}

/** Why an attempt is ended from outside: its timer ran out, or the engine no longer wants it. */
export type StopCause = "timeout" | "idle_timeout" | "stopped";

/** One kind of step. Settles exactly once; never throws for a failure of the step itself. */
export interface Action {
  readonly type: string;
  /** It starts no process, so no files of one are looked for. */
  readonly silent?: boolean;
  run(attempt: Attempt): Promise<Outcome<Json>>;
}

/** The result of an attempt that was ended from outside. The reason of its aborted signal decides, not how it ended. */
export function stoppedResult({
  signal,
  timeoutMs,
  idleTimeoutMs,
}: Pick<Attempt, "signal" | "timeoutMs" | "idleTimeoutMs">): Exclude<Outcome<Json>, { kind: "succeeded" }> {
  switch (signal.reason as StopCause) {
    case "timeout":
      return {
        kind: "failed",
        facts: { message: `timed out after ${durationAmount(timeoutMs ?? 0)}`, timeout: "wall" },
      };
    case "idle_timeout":
      return {
        kind: "failed",
        facts: { message: `printed nothing for ${durationAmount(idleTimeoutMs ?? 0)}`, timeout: "idle" },
      };
    default:
      return { kind: "stopped" };
  }
}
