import { DarumaError } from "../core/errors/errors.js";
import type { Definition } from "../core/model/definition.js";
import type { RunOptions } from "../core/model/events.js";
import { buildGraph } from "../core/model/graph.js";
import type { Json } from "../core/text/json.js";
import { NotJson, toJson } from "../core/text/to-json.js";
import { resolveInputs } from "../definition/check/validate-inputs.js";
import type { NewRun } from "../engine/engine.js";
import { loadRun } from "../engine/load-run.js";
import { causeOfKey } from "../operations/runs/run-cause.js";
import type { StartOptions } from "../operations/runs/start-options.js";
import { checkPackages } from "../operations/workflows/check-packages.js";
import { checkSecrets } from "../operations/workflows/check-secrets.js";
import type { Workflow } from "../operations/workflows/workflow.js";
import { noSuchStep } from "../report/lookup/choose-job.js";
import { reusableJobs } from "../report/lookup/fork-run.js";
import { requireOwnRuns } from "../report/lookup/own-runs.js";
import type { Store } from "../store/store.js";

/** What the engine is asked for when a workflow is started; inputs, context and secrets are checked here. */
export function newRunOf(
  workflow: Workflow,
  options: StartOptions,
  env: { readonly [name: string]: string | undefined },
): NewRun {
  const { definition, hash, text, file, folder } = workflow;
  const inputs = checkedInputs(definition, plainData(options.inputs ?? {}, "inputs"));
  const context = plainData(options.context ?? {}, "context");
  // The secrets of a server's run are those of the workers that execute it; it has not all of them, if any.
  const secrets =
    options.managed === true ? definition.secrets.filter((name) => env[name]) : definition.secrets;
  checkSecrets(secrets, env, { inputs, context }, text);
  if (options.managed !== true) checkPackages(definition);
  if (options.only !== undefined) checkOnly(definition, options.only);
  const cause = options.key === undefined ? options.cause : causeOfKey(options.key, asked(workflow, options));
  return {
    definition,
    hash,
    text,
    file,
    folder,
    inputs,
    context,
    options: runOptions(options),
    ...(options.parent === undefined ? {} : { parent: options.parent }),
    ...(options.managed === undefined ? {} : { managed: options.managed }),
    ...(cause === undefined ? {} : { cause }),
  };
}

/** What a fork takes over from the run that it goes on from. */
export async function forkOf(
  store: Store,
  { run: from, step, reason = "" }: NonNullable<StartOptions["fork"]>,
  { definition }: Workflow,
): Promise<NonNullable<NewRun["fork"]>> {
  await requireOwnRuns(store, [{ run: from }]);
  const { run } = await loadRun(store, from);
  return { from, step, reason, reuse: reusableJobs(run, step, buildGraph(definition)) };
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

function checkedInputs(
  definition: Definition,
  given: { readonly [name: string]: Json },
): { readonly [name: string]: Json } {
  const resolved = resolveInputs(definition, given);
  if (resolved.ok) return resolved.inputs;
  throw new DarumaError("INVALID_INPUT", resolved.problems.map(({ message }) => message).join("; "));
}

/** One step alone has no items to run in. */
function checkOnly(definition: Definition, only: string): void {
  const step = buildGraph(definition).byId.get(only);
  if (step === undefined)
    throw noSuchStep(
      definition.name,
      only,
      definition.steps.map(({ id }) => id),
    );
  if (step.path.length > 0) {
    const message = `${only} runs once for each item of ${step.path.at(-1)!.definition.id}; --only needs a step outside forEach`;
    throw new DarumaError("CROSS_SCOPE", message);
  }
}

/** What a start asks for, so that the same key cannot come to mean another run. */
function asked({ hash }: Workflow, { inputs = {}, context = {}, fork, ...options }: StartOptions): object {
  return { hash, inputs, context, options: runOptions(options), fork: fork ?? null };
}

function runOptions(options: StartOptions): RunOptions {
  return {
    maxLoops: options.maxLoops ?? null,
    retryMax: options.retryMax ?? null,
    failureRouting: options.failureRouting ?? true,
    only: options.only ?? null,
  };
}
