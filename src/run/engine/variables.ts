import { endSeenBy } from "../../core/decide/ending/ending.js";
import { loopCount } from "../../core/decide/loop-budget.js";
import { undoneBy } from "../../core/model/ending/run-ending.js";
import type { Output } from "../../core/model/events.js";
import { resolve, takesAnyEnd } from "../../core/model/gate.js";
import type { GraphStep } from "../../core/model/graph.js";
import { type LedBy, openFailureOf } from "../../core/model/led-by.js";
import type { Job, Run, Scope } from "../../core/model/run.js";
import { lastErrorSeenBy, seenBriefly, seenError } from "../../core/model/seen-error.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { isTemplate } from "../sandbox/template.js";

interface Variables {
  readonly [name: string]: Json;
}

/**
 * The outputs that a program's function may read. They are collected only when it reads them, because most functions of
 * a long chain read none, and each has all earlier steps before it. They must be those of the attempt's start: call
 * `keep` before the run changes.
 */
export class LaterOutputs {
  private kept: { readonly outputs: Json } | { readonly error: Error } | null = null;

  constructor(
    readonly jobId: number,
    readonly attempt: number,
    private readonly read: () => Json,
  ) {}

  keep(): void {
    if (this.kept !== null) return;
    try {
      this.kept = { outputs: this.read() };
    } catch (error) {
      this.kept = { error: unreadable(error) };
    }
  }

  get outputs(): Json {
    this.keep();
    if (this.kept !== null && "outputs" in this.kept) return this.kept.outputs;
    throw this.kept?.error;
  }

  /** The variables with these outputs, which are plain data once they are read. */
  amongst(variables: Variables): Variables {
    return addReadLater({ ...variables }, "outputs", () => this.outputs);
  }
}

/** Adds a property that is computed when it is first read, and is then like any other. */
function addReadLater(
  owner: { [name: string]: Json },
  name: string,
  read: () => Json,
): { [name: string]: Json } {
  const shape = { enumerable: true, configurable: true };
  const become = (value: Json) => {
    Object.defineProperty(owner, name, { ...shape, writable: true, value });
    return value;
  };
  return Object.defineProperty(owner, name, { ...shape, get: () => become(read()), set: become });
}

/** Reads an output. If that fails, the step that wants it fails with the right code. */
function readOutput(path: string, read: (path: string) => Json): Json {
  try {
    return read(path);
  } catch (error) {
    throw unreadable(error);
  }
}

function unreadable(error: unknown): Error {
  const message = `what the step needs cannot be read: ${messageOf(error)}`;
  return Object.assign(new Error(message, { cause: error }), { code: "ARTIFACT_MISSING" });
}

/** Reads an output that was too large for the log. */
export type ReadArtifact = (path: string) => Json;

interface VariableRequest {
  readonly run: Run;
  readonly job: Job;
  /** The steps whose outputs the code names. */
  readonly outputs: readonly string[] | "all";
  readonly readArtifact: ReadArtifact;
}

/**
 * The variables of a run for expressions, scripts and templates: plain data, only the outputs they name, no secrets.
 * Values of `env` are as in the file: `envTemplates` says which must still be rendered.
 */
export function variablesFor({ run, job, outputs, readArtifact }: VariableRequest): { [name: string]: Json } {
  const { definition } = job.step;
  const { retries, loops } = loopCount(run, job, "retry");
  const variables: { [name: string]: Json } = {
    ...run.context,
    step: { id: definition.id, tags: definition.tags, group: definition.group },
    attempt: job.attempt,
    visit: job.visit,
    loop: retries + loops,
    error: job.error === null ? null : seenError(job.error),
    foreach: itemOf(job.scope),
    inputs: run.inputs,
    state: { _last_error: lastErrorSeenBy(job) },
    outputs: outputsOf({ run, job, outputs, readArtifact }),
  };
  variables.env = withoutSecrets({ ...run.definition.env, ...definition.env }, run.definition.secrets);
  variables.failure = failureSeenBy(job, readArtifact);
  variables.run = endOf(run, job);
  variables.undo = undoOf(run, job, readArtifact);
  variables.branches = job.step.closes === null ? null : branchesOf(job);
  return variables;
}

/**
 * The failure that led to the visit, the job's own last one as `retry`, and a person's hint. Null if there is none of
 * these.
 */
function failureSeenBy(job: Job, read: ReadArtifact): Json {
  const led = openFailureOf(job);
  const { ownFailure: own, hint } = job;
  if (led === null && own === null && hint === null) return null;
  return {
    ...(led === null ? {} : ledVariable(led, read)),
    ...(own === null ? {} : { retry: { ...seenError(own), repairs: repairsOf(job, read) } }),
    ...(hint === null ? {} : { hint: hint.text }),
  };
}

function ledVariable({ failure, route, edge, round, rounds, output }: LedBy, read: ReadArtifact) {
  return { ...seenError(failure), route, edge, round, rounds, output: failedOutputOf(output, read) };
}

/** The output; null if there is none, or its file is gone. */
export function failedOutputOf(output: Output | null, read: ReadArtifact): Json {
  if (output === null) return null;
  try {
    return valueOfOutput(output, read);
  } catch {
    return null;
  }
}

type RepairSeen =
  | { readonly step: string; readonly attempt: number; readonly output: Json; readonly script?: never }
  | { readonly script: string };

/** The repairs since the job's last failure, with the outputs of the repair steps. */
export function repairsOf({ repairs }: Job, read: ReadArtifact): RepairSeen[] {
  return repairs.map((repair) => {
    if (repair.kind === "script") return { script: repair.script };
    const { job, attempt } = repair;
    return { step: job.step.definition.id, attempt, output: failedOutputOf(job.output, read) };
  });
}

/** How the run ends; null for a step that does not run at its end. */
function endOf(run: Run, job: Job): Json {
  const end = endSeenBy(run, job);
  return end === null ? null : { status: end.status, error: end.error === null ? null : { ...end.error } };
}

/** What an undo step must undo: the last output, and those of all completions in this run, oldest first. */
function undoOf(run: Run, job: Job, read: ReadArtifact): Json {
  const item = undoneBy(run, job);
  if (item === null) return null;
  const history = item.job.history.slice(-item.completions).map((output) => valueOfOutput(output, read));
  return { step: item.job.step.definition.id, output: history.at(-1) ?? null, history };
}

function itemOf(scope: Scope): Json {
  if (scope.item === null) return null;
  return { key: scope.item.key, index: scope.item.index, total: scope.item.total, path: scope.id };
}

/**
 * Text that matches none of these cannot reach `env`: the name itself, the global object, an escape, a computed member.
 */
const MAY_READ_ENV = /env|globalThis|\\|\[|_exp/;

/** Values of `variables.env` that are templates themselves, if any of these texts may read them. */
export function envTemplates(
  { env }: { readonly [name: string]: Json },
  readers: readonly string[],
): { [name: string]: string } {
  if (env === undefined || !readers.some((text) => MAY_READ_ENV.test(text))) return {};
  return Object.fromEntries(
    Object.entries(env as { [name: string]: string }).filter(([, text]) => isTemplate(text)),
  );
}

function withoutSecrets(
  env: { readonly [name: string]: string },
  secrets: readonly string[],
): { readonly [name: string]: string } {
  return Object.fromEntries(Object.entries(env).filter(([name]) => !secrets.includes(name)));
}

function outputsOf(request: VariableRequest): Json {
  return collectOutputs(request, (outputs, name, output) => {
    outputs[name] = valueOfOutput(output, request.readArtifact);
  });
}

/**
 * The same values, but those kept as files are loaded on first access: a function may have very many steps before it
 * and read the outputs of few. A copy is plain data.
 */
export function outputsReadLater(request: VariableRequest): Json {
  return collectOutputs(request, (outputs, name, output) => {
    if (output.kind === "value") outputs[name] = output.value;
    else addReadLater(outputs, name, () => readOutput(output.path, request.readArtifact));
  });
}

function collectOutputs(
  { run, job, outputs: named, readArtifact: read }: VariableRequest,
  add: (outputs: { [id: string]: Json }, name: string, output: Output) => void,
): Json {
  const names = named === "all" ? [...run.graph.byId.keys(), "history"] : named;
  const outputs: { [id: string]: Json } = {};
  for (const name of names) {
    const step = run.graph.byId.get(name);
    const output = step === undefined ? null : seenOutput(job, step, read);
    if (output !== null) add(outputs, name, output);
  }
  if (names.includes("history")) outputs.history = historyOf(run, job.scope, read);
  return outputs;
}

export function outputOf(job: Job, step: GraphStep, read: ReadArtifact): Json | undefined {
  const output = seenOutput(job, step, read);
  return output === null ? undefined : valueOfOutput(output, read);
}

const NO_VALUE: Output = Object.freeze({ kind: "value", value: null });

/**
 * The output of a step as the job sees it: for an enclosing fan-out it is the job's item, for a reducer's dependency
 * the array of its branches.
 */
function seenOutput(job: Job, step: GraphStep, read: ReadArtifact): Output | null {
  for (let scope: Scope | null = job.scope; scope !== null; scope = scope.parent) {
    if (scope.opener?.step === step && scope.item !== null)
      return { kind: "value", value: itemValue(scope, read) };
  }
  if (job.step.closes !== null && isInBranch(job, step))
    return { kind: "value", value: branchOutputs(job, step, read) };
  const producer = resolve(step, job.scope);
  if (producer === null) return null;
  if (producer.status === "failed" && producer.handled === "continue_on_failure") return NO_VALUE;
  // Skipped by a decision, and its dependents run all the same.
  if (producer.status === "skipped" && producer.settledAs === "met") return NO_VALUE;
  if (producer.settledAs === "lost" && takesAnyEnd(job.step)) return NO_VALUE;
  return producer.output;
}

function itemValue(scope: Scope, read: ReadArtifact): Json {
  const output = scope.opener!.output;
  const items = output === null ? [] : valueOfOutput(output, read);
  return (items as readonly Json[])[scope.item!.index] ?? null;
}

function isInBranch(reducer: Job, step: GraphStep): boolean {
  return step.path.length > reducer.step.path.length && step.path.includes(reducer.step.closes!);
}

function branchScopes(reducer: Job): Scope[] {
  return (reducer.scope.children.get(reducer.step.closes!) ?? []).filter((scope) => scope.open);
}

function branchOutputs(reducer: Job, step: GraphStep, read: ReadArtifact): Json {
  return branchScopes(reducer).map((scope) => {
    const output = scope.jobs.get(step)?.output;
    return output === undefined || output === null ? null : valueOfOutput(output, read);
  });
}

function branchesOf(reducer: Job): Json {
  return branchScopes(reducer).map((scope) => {
    const jobs = [...scope.jobs.values()];
    const gate = scope.branchGates.get(reducer.step);
    const met = gate !== undefined && gate.unmet === 0 && !gate.forcedLost;
    const failed = met
      ? jobs.find((job) => job.stoodInBy !== null)
      : jobs.find((job) => job.status === "failed" || job.status === "canceled");
    const ends = met ? (["completed", "stood_in"] as const) : (["skipped", "failed"] as const);
    const error = failed?.failure ?? null;
    return {
      key: scope.item!.key,
      status: ends[failed === undefined ? 0 : 1],
      error: error === null ? null : seenBriefly(error),
    };
  });
}

function historyOf(run: Run, scope: Scope, read: ReadArtifact): Json {
  const history: { [id: string]: Json } = {};
  for (const step of run.graph.steps) {
    const job = resolve(step, scope);
    history[step.definition.id] =
      job === null ? [] : job.history.map((output) => valueOfOutput(output, read));
  }
  return history;
}

export function valueOfOutput(output: Output, read: ReadArtifact): Json {
  return output.kind === "value" ? output.value : read(output.path);
}
