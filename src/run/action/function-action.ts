import { type Json, NotJson, toJson } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { type Action, stoppedResult } from "./action.js";

/** What a TypeScript function that serves as a step is given. */
export interface StepContext<Params = { readonly [key: string]: Json }> {
  /** The step's own keys, templates rendered. A text that is one `{{ }}` and nothing else is the value itself. */
  readonly params: Params;
  /** `inputs`, `state`, `foreach`, ... as expressions see them; of `outputs` those of the steps it depends on, directly or not. */
  readonly variables: { readonly [name: string]: Json };
  readonly runId: number;
  readonly jobId: number;
  readonly stepId: string;
  /** Counts from 1. */
  readonly attempt: number;
  /** Aborted when the attempt times out or is no longer wanted. */
  readonly signal: AbortSignal;
  /** Writes a line to the attempt's log. */
  log(text: string): void;
}

export type StepFunction<Params = { readonly [key: string]: Json }, Output = Json | undefined> = (
  context: StepContext<Params>,
) => Output | Promise<Output>;

export interface ActionSpec<Params, Output> {
  /** Makes sure of what a workflow file says: what `parse` throws fails the step for good. Zod schemas have one. */
  readonly params: { parse(given: unknown): Params };
  readonly run: StepFunction<Params, Output>;
}

/**
 * A step function with types of its own. Types alone are a promise of the program: params come from a workflow, and
 * only a spec with `params` looks at them before the function does.
 */
export function defineAction<Params, Output>(
  action: StepFunction<Params, Output> | ActionSpec<Params, Output>,
): StepFunction {
  const run = typeof action === "function" ? action : checkedFirst(action);
  return run as unknown as StepFunction;
}

function checkedFirst<Params, Output>({
  params,
  run,
}: ActionSpec<Params, Output>): StepFunction<unknown, Output> {
  return (context) => run({ ...context, params: parsed(params, context.params) });
}

function parsed<Params>(params: ActionSpec<Params, unknown>["params"], given: unknown): Params {
  try {
    return params.parse(given);
  } catch (error) {
    throw Object.assign(new Error(`wrong params: ${messageOf(error)}`, { cause: error }), {
      code: "VALIDATION_ERROR",
    });
  }
}

/** An error with a code of the caller's own, so that `retry.on` can name it. */
interface CodedError extends Error {
  readonly code?: unknown;
  readonly retryable?: unknown;
}

/** A TypeScript function as a step: what it returns is the output, what it throws is the failure. */
export function functionAction(type: string, run: StepFunction): Action {
  return {
    type,
    // It starts no process: its logs are made with the first thing that it has to say.
    silent: true,
    async run(attempt) {
      const { type: _, ...params } = attempt.action;
      const encoder = new TextEncoder();
      const context: StepContext = {
        params,
        variables: attempt.variables,
        runId: attempt.runId,
        jobId: attempt.jobId,
        stepId: attempt.stepId,
        attempt: attempt.attempt,
        signal: attempt.signal,
        log: (text) => attempt.writeStdout(encoder.encode(`${text}\n`)),
      };
      try {
        const output = await Promise.race([run(context), aborted(attempt.signal)]);
        return { kind: "succeeded", output: toJson(output ?? null, "output") };
      } catch (error) {
        if (error instanceof NotJson)
          return { kind: "failed", facts: { code: "OUTPUT_INVALID", message: error.message } };
        if (attempt.signal.aborted) return stoppedResult(attempt);
        return { kind: "failed", facts: thrownFacts(error) };
      }
    },
  };
}

/** A function that ignores its signal must not hold up the run. */
function aborted(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    if (signal.aborted) reject(signal.reason);
    signal.addEventListener("abort", () => reject(signal.reason), { once: true });
  });
}

function thrownFacts(error: unknown): {
  message: string;
  stack?: string;
  declared?: { code?: string; retryable?: boolean };
} {
  if (!(error instanceof Error)) return { message: String(error) };
  const { code, retryable } = error as CodedError;
  const declared = {
    ...(typeof code === "string" ? { code } : {}),
    ...(typeof retryable === "boolean" ? { retryable } : {}),
  };
  return {
    message: error.message,
    ...(error.stack === undefined ? {} : { stack: error.stack }),
    ...(Object.keys(declared).length > 0 ? { declared } : {}),
  };
}
