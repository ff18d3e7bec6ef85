import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import type { RunCause, RunOptions } from "../../core/model/events.js";
import { buildGraph } from "../../core/model/graph.js";
import type { Json } from "../../core/text/json.js";
import { NotJson, toJson } from "../../core/text/to-json.js";
import { resolveInputs } from "../../definition/check/validate-inputs.js";
import { noSuchStep } from "../../report/lookup/choose-job.js";
import type { Workflow } from "../workflows/workflow-source.js";

export interface StartOptions {
  readonly inputs?: { readonly [name: string]: Json };
  /** More variables for expressions and templates, such as `pr` and `files`. */
  readonly context?: { readonly [name: string]: Json };
  readonly maxLoops?: number;
  readonly retryMax?: number;
  readonly failureRouting?: boolean;
  readonly only?: string;
  /** Go on from a step of another run: what came before it there is not done again. */
  readonly fork?: { readonly run: number; readonly step: string; readonly reason?: string };
  readonly parent?: { readonly runId: number; readonly jobId: number };
  /** Servers go on with it by themselves. */
  readonly managed?: boolean;
  /** Started with the same key before: that run is gone on with, and no other begins. */
  readonly key?: string;
  /** The same for what makes runs by itself, instead of a key. */
  readonly cause?: RunCause;
}

/** What a program gives goes into the log: it is refused where JSON would lose some of it. */
export function plainData<T extends object>(given: T, name: string): T {
  try {
    return toJson(given, name) as T & Json;
  } catch (error) {
    if (!(error instanceof NotJson)) throw error;
    throw new DarumaError("INVALID_INPUT", error.message, {
      hint: "Give plain data: objects, arrays, texts, finite numbers, true, false and null; a date as text.",
      cause: error,
    });
  }
}

export function checkedInputs(
  definition: Definition,
  given: { readonly [name: string]: Json },
): { readonly [name: string]: Json } {
  const resolved = resolveInputs(definition, given);
  if (resolved.ok) return resolved.inputs;
  throw new DarumaError("INVALID_INPUT", resolved.problems.map(({ message }) => message).join("; "));
}

/** One step alone has no items to run in. */
export function checkOnly(definition: Definition, only: string): void {
  const step = buildGraph(definition).byId.get(only);
  if (step === undefined)
    throw noSuchStep(
      definition.name,
      only,
      definition.steps.map(({ id }) => id),
    );
  if (step.path.length > 0) {
    const message = `${only} runs once an item of ${step.path.at(-1)!.definition.id}; --only takes a step outside forEach`;
    throw new DarumaError("CROSS_SCOPE", message);
  }
}

/** What a start asks for, so that the same key cannot come to mean another run. */
export function asked(
  { hash }: Workflow,
  { inputs = {}, context = {}, fork, ...options }: StartOptions,
): object {
  return { hash, inputs, context, options: runOptions(options), fork: fork ?? null };
}

export function runOptions(options: StartOptions): RunOptions {
  return {
    maxLoops: options.maxLoops ?? null,
    retryMax: options.retryMax ?? null,
    failureRouting: options.failureRouting ?? true,
    only: options.only ?? null,
  };
}
