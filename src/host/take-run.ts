import { DarumaError } from "../core/errors/errors.js";
import { MAX_GROUP_CHARS, MAX_PRIORITY, type RunConcurrency } from "../core/groups/concurrency.js";
import { programActions } from "../core/model/action-traits.js";
import type { Definition } from "../core/model/definition.js";
import type { RunOptions } from "../core/model/events.js";
import { buildGraph } from "../core/model/graph.js";
import { type Json, NotJson, toJson } from "../core/text/json.js";
import { LABEL_KEY_RULE, LABEL_VALUE_RULE, type Labels, labelsProblem } from "../core/text/labels.js";
import { readRecordedJobs, takenOver } from "../operations/reuse/recorded-jobs.js";
import { planFrom } from "../operations/reuse/reuse-run.js";
import { causeOfKey } from "../operations/runs/run-cause.js";
import { checkedInputs, type StartOptions } from "../operations/runs/start-options.js";
import { checkPackages, checkSecrets, keptText } from "../operations/workflows/check-secrets.js";
import type { Workflow } from "../operations/workflows/workflow.js";
import type { NewRun } from "../run/engine/engine.js";
import { loadRun } from "../run/engine/load-run.js";
import { newBudget, renderTemplate } from "../run/sandbox/template.js";
import type { Store } from "../store/store.js";
import { noSuchStep } from "../tell/lookup/choose-job.js";
import { reusableJobs } from "../tell/lookup/fork-source.js";
import { requireOwnRuns } from "../tell/lookup/own-runs.js";

/** What the engine is asked for when a workflow is started; inputs, context and secrets are checked here. */
export function newRunOf(
  workflow: Workflow,
  options: StartOptions,
  env: { readonly [name: string]: string | undefined },
): NewRun {
  const { definition, hash, text, file, folder } = workflow;
  const written = keptText(workflow, env);
  const inputs = checkedInputs(definition, plainData(options.inputs ?? {}, "inputs"));
  const context = plainData(options.context ?? {}, "context");
  const labels = checkedLabels(definition, plainData(options.labels ?? {}, "labels"));
  // The secrets of a server's run are those of the workers that execute it; it has not all of them, if any.
  const secrets =
    options.managed === true ? definition.secrets.filter((name) => env[name]) : definition.secrets;
  checkSecrets(secrets, env, { inputs, context, labels }, text);
  if (options.managed !== true) checkPackages(definition);
  if (options.only !== undefined) checkOnly(definition, options.only);
  checkReuse(options);
  const priority = options.priority ?? definition.priority;
  if (priority !== undefined) checkPriority(priority);
  const cause = options.key === undefined ? options.cause : causeOfKey(options.key, asked(workflow, options));
  return {
    definition,
    hash,
    text,
    ...(written === null ? {} : { written }),
    file,
    folder,
    inputs,
    context,
    options: { ...runOptions(options), ...programOf(definition, options) },
    ...(options.parent === undefined ? {} : { parent: options.parent }),
    ...(options.managed === undefined ? {} : { managed: options.managed }),
    ...(cause === undefined ? {} : { cause }),
    ...(Object.keys(labels).length === 0 ? {} : { labels }),
    ...(priority === undefined ? {} : { priority }),
    // The run for whose step it is has the place.
    ...(definition.concurrency === undefined || options.parent !== undefined
      ? {}
      : { concurrency: renderedConcurrency(definition.concurrency, { ...context, inputs }) }),
  };
}

/** The new run with what it takes over from another, if it was to take over something. */
export async function withTakenOver(
  store: Store,
  request: NewRun,
  { fork: asked, reuse, keepStoodIn }: StartOptions,
): Promise<NewRun> {
  if (asked === undefined && reuse === undefined) return request;
  const fork =
    asked === undefined
      ? (await planFrom(store, reuse!, request, keepStoodIn))?.fork
      : await forkOf(store, { ...asked, keepStoodIn }, request.definition);
  const reused = { from: fork?.from ?? null, jobs: fork?.reuse.length ?? 0 };
  return { ...request, ...(fork === undefined ? {} : { fork }), options: { ...request.options, reused } };
}

type ForkAsked = NonNullable<StartOptions["fork"]> & { readonly keepStoodIn: boolean | undefined };

/** What a fork takes over from the run that it goes on from. */
async function forkOf(
  store: Store,
  { run: from, step, reason = "", keepStoodIn }: ForkAsked,
  definition: Definition,
): Promise<NonNullable<NewRun["fork"]>> {
  await requireOwnRuns(store, [{ run: from }]);
  const { run } = await loadRun(store, from);
  const jobs = reusableJobs(run, step, buildGraph(definition), keepStoodIn);
  return { from, step, reason, reuse: takenOver(run, jobs, await readRecordedJobs(store, run)) };
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

/** The workflow's labels, overridden by those given at the start. */
function checkedLabels(definition: Definition, given: Labels): Labels {
  const labels = { ...definition.labels, ...given };
  const problem = labelsProblem(given) ?? labelsProblem(labels);
  if (problem === null) return labels;
  throw new DarumaError("INVALID_INPUT", problem, { hint: `${LABEL_KEY_RULE} ${LABEL_VALUE_RULE}` });
}

/** It is rendered between other things that this program does. */
const MAX_GROUP_WORK = 100_000;

/** The group by its name, which is that of a place from now on. */
function renderedConcurrency(
  concurrency: RunConcurrency,
  variables: { readonly [name: string]: Json },
): RunConcurrency {
  const group = renderTemplate(concurrency.group, variables, newBudget(MAX_GROUP_WORK)).trim();
  const problem =
    group === ""
      ? "is empty"
      : group.length > MAX_GROUP_CHARS
        ? `has ${group.length} characters, more than ${MAX_GROUP_CHARS}`
        : /\p{Cc}/u.test(group)
          ? "has a line break or another control character"
          : null;
  if (problem === null) return { ...concurrency, group };
  throw new DarumaError(
    "INVALID_INPUT",
    `the concurrency group of this run ${problem}: ${concurrency.group}`,
    {
      hint: "Give inputs from which the group can be made.",
    },
  );
}

function checkPriority(priority: number): void {
  if (Number.isInteger(priority) && Math.abs(priority) <= MAX_PRIORITY) return;
  throw new DarumaError("INVALID_INPUT", `invalid priority ${priority}`, {
    hint: `Give a whole number from -${MAX_PRIORITY} to ${MAX_PRIORITY}.`,
  });
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

/** Each of them says by itself which steps run. */
function checkReuse({ reuse, only, fork }: StartOptions): void {
  if (reuse === undefined || (only === undefined && fork === undefined)) return;
  const other = only === undefined ? "fork" : "only";
  throw new DarumaError("INVALID_INPUT", `reuse and ${other} cannot be combined: each says which steps run`);
}

/** What a start asks for, so that the same key cannot come to mean another run. */
function asked(
  { hash }: Workflow,
  { inputs = {}, context = {}, labels, fork, reuse, keepStoodIn, ...options }: StartOptions,
): object {
  return {
    hash,
    inputs,
    context,
    options: runOptions(options),
    fork: fork ?? null,
    // Without it the request is what it always was.
    ...(reuse === undefined ? {} : { reuse }),
    ...(keepStoodIn === true ? { keepStoodIn } : {}),
    ...(labels === undefined ? {} : { labels }),
    ...(options.priority === undefined ? {} : { priority: options.priority }),
  };
}

/** The program that a run needs. A server's run goes to any worker that has what its steps require. */
function programOf(definition: Definition, { managed }: StartOptions): Pick<RunOptions, "program"> {
  if (managed === true || programActions(definition).length === 0) return {};
  return { program: process.argv[1] ?? "" };
}

function runOptions(options: StartOptions): RunOptions {
  return {
    max_loops: options.maxLoops ?? null,
    retry_max: options.retryMax ?? null,
    failure_routing: options.failureRouting ?? true,
    only: options.only ?? null,
    ...(options.strict === true ? { strict: true } : {}),
  };
}
