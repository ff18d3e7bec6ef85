import { availableParallelism } from "node:os";
import { MAX_SCRIPT_BYTES } from "../../core/model/action-traits.js";
import { MAX_EXPRESSION_BYTES } from "../../core/model/definition.js";
import type { EvaluationResult } from "../../core/model/events.js";
import { refuse, type Verdict, withDuration } from "./check-result.js";
import {
  BATCH_SIZE,
  EXPRESSION_BUDGET_MS,
  EXPRESSION_DEADLINE_MS,
  EXPRESSION_THREADS,
  INTERRUPTS_PER_MS,
  MAX_TEMPLATE_VARIABLES_CHARS,
  MAX_TIMER_MS,
  MAX_VARIABLES_CHARS,
  TEMPLATE_DEADLINE_MS,
  TEMPLATE_THREADS,
} from "./limits.js";
import type { Rendering } from "./render-step.js";
import type { Evaluation, Sandbox } from "./sandbox.js";
import { EvaluationTask, ThreadLane } from "./sandbox-thread.js";

interface SandboxOptions {
  /** How many long evaluations (scripts) may run at a time; by default the number of cores, at least 2. */
  readonly scriptThreads?: number;
}

/** Runs code in QuickJS, in threads that can be terminated. Nothing is loaded before the first evaluation. */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return new QuickJsSandbox(options.scriptThreads ?? Math.max(2, availableParallelism()));
}

class QuickJsSandbox implements Sandbox {
  readonly #expressions = new ThreadLane({ maxThreads: EXPRESSION_THREADS, batchSize: BATCH_SIZE });
  /** Scripts have their own threads, since they may run for minutes and must not delay decisions. */
  readonly #scripts: ThreadLane;
  readonly #templates = new ThreadLane({ maxThreads: TEMPLATE_THREADS, batchSize: 1 });
  #isClosed = false;

  constructor(scriptThreads: number) {
    this.#scripts = new ThreadLane({ maxThreads: scriptThreads, batchSize: 1 });
  }

  evaluate(evaluation: Evaluation): Promise<EvaluationResult> {
    if (this.#isClosed) return refused(refuse("EXPRESSION_STOPPED", "the sandbox is closed"));
    const refusal = refuseAtOnce(evaluation);
    if (refusal !== null) return refused(refusal);
    const variables = writeJson(evaluation.variables, MAX_VARIABLES_CHARS);
    if (variables === null) {
      return refused(refuse("EXPRESSION_MEMORY", "its variables are too large or too deeply nested"));
    }
    const budgetMs = evaluation.budgetMs ?? EXPRESSION_BUDGET_MS;
    const deadlineMs = Math.min(evaluation.deadlineMs ?? EXPRESSION_DEADLINE_MS, MAX_TIMER_MS);
    const isLong = budgetMs > EXPRESSION_BUDGET_MS || deadlineMs > EXPRESSION_DEADLINE_MS;
    const lane = isLong ? this.#scripts : this.#expressions;
    return new Promise((resolve) => {
      lane.add(
        new EvaluationTask({
          request: {
            code: evaluation.code,
            variables,
            now: evaluation.now,
            expects: evaluation.expects,
            maxInterrupts: Math.ceil(budgetMs * INTERRUPTS_PER_MS),
          },
          deadlineMs,
          counts: evaluation.deadlineMs === undefined ? "cpu" : "wall",
          signal: evaluation.signal,
          resolve,
          onAbort: (task) => {
            task.refuse("EXPRESSION_STOPPED", "it was stopped from outside");
            lane.remove(task);
          },
        }),
      );
    });
  }

  render(rendering: Rendering, signal?: AbortSignal): Promise<EvaluationResult> {
    if (this.#isClosed || signal?.aborted === true)
      return refused(refuse("EXPRESSION_STOPPED", "it was stopped from outside"));
    const json = writeJson(rendering, MAX_TEMPLATE_VARIABLES_CHARS);
    if (json === null)
      return refused(
        refuse("TEMPLATE_ERROR", "the variables that it reads are too large or too deeply nested"),
      );
    const lane = this.#templates;
    return new Promise((resolve) => {
      lane.add(
        new EvaluationTask({
          request: { rendering: json },
          deadlineMs: TEMPLATE_DEADLINE_MS,
          counts: "cpu",
          signal,
          resolve,
          onAbort: (task) => {
            task.refuse("EXPRESSION_STOPPED", "it was stopped from outside");
            lane.remove(task);
          },
        }),
      );
    });
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    const stop = (task: EvaluationTask) => task.refuse("EXPRESSION_STOPPED", "the sandbox was closed");
    await Promise.all([this.#expressions, this.#scripts, this.#templates].map((lane) => lane.close(stop)));
  }
}

function refused(verdict: Verdict): Promise<EvaluationResult> {
  return Promise.resolve(withDuration(verdict, 0));
}

function refuseAtOnce(evaluation: Evaluation): Verdict | null {
  if (evaluation.signal?.aborted) return refuse("EXPRESSION_STOPPED", "it was stopped from outside");
  const maxBytes = evaluation.expects === "json" ? MAX_SCRIPT_BYTES : MAX_EXPRESSION_BYTES;
  const bytes = Buffer.byteLength(evaluation.code);
  return bytes > maxBytes
    ? refuse("EXPRESSION_TOO_LONG", `it has ${bytes} bytes, the limit is ${maxBytes}`)
    : null;
}

/** The value as JSON. Null if it is too long, or nested too deeply for JSON.stringify. */
function writeJson(value: object, maxChars: number): string | null {
  try {
    const json = JSON.stringify(value);
    return json.length > maxChars ? null : json;
  } catch {
    return null;
  }
}
