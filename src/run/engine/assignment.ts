import { isAbsolute, join } from "node:path";
import { endSeenBy } from "../../core/decide/ending/ending.js";
import { matchRule } from "../../core/decide/ladder/rule.js";
import { actionTraits, isBuiltInAction, isOfFlow } from "../../core/model/action-traits.js";
import { bytesOf, givenUserData, MAX_GIVEN_USER_DATA_BYTES } from "../../core/model/batch/user-data.js";
import {
  type ActionDefinition,
  DEFAULT_RECOVERY_TIMEOUT_MS,
  type Definition,
  type StepDefinition,
} from "../../core/model/definition.js";
import type { FailureFacts } from "../../core/model/failure.js";
import { programFor } from "../../core/model/flow.js";
import type { GraphStep } from "../../core/model/graph.js";
import { resourcesOf } from "../../core/model/resources.js";
import type { Job, Run } from "../../core/model/run.js";
import { BASH_OR_SH, type FoundShell, type Shell } from "../../core/model/shell.js";
import { lastCommit, nextOrdinal, workspacePathFor } from "../../core/model/workspace-state.js";
import { hiddenNames } from "../../core/schedule/triggers.js";
import { aboutSize, sizeText } from "../../core/text/amount-text.js";
import type { Json } from "../../core/text/json.js";
import { messageOf } from "../../core/text/message-of.js";
import { outputsNamedInCode, outputsNamedInTemplate } from "../sandbox/names/find-names.js";
import {
  notRendered,
  type Rendered,
  type Rendering,
  renderInPlace,
  stringsIn,
  withEnv,
} from "../sandbox/render-step.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import { isTemplate } from "../sandbox/template.js";
import type { Assignment } from "../worker.js";
import { ledHere, promptMaterialOf } from "./prompt-material.js";
import {
  envTemplates,
  LaterOutputs,
  outputsReadLater,
  type ReadArtifact,
  variablesFor,
} from "./variables.js";

/** An attempt's assignment as it is decided. `render` prepares what a thread must still make of its templates. */
export interface PlannedAssignment {
  readonly assignment: Assignment;
  /** The outputs that its function reads only when it wants them. */
  readonly later: LaterOutputs | null;
  readonly render: ((sandbox: Pick<Sandbox, "render">, signal: AbortSignal) => Promise<Assignment>) | null;
}

/** Everything that a worker needs for an attempt that has just been started, rendered with the run's present state. */
export function assignmentFor(
  run: Run,
  job: Job,
  { now, shell }: { readonly now: number; readonly shell?: FoundShell | undefined },
  readArtifact: ReadArtifact,
): PlannedAssignment {
  const { definition } = job.step;
  // A program puts data into its texts: nothing in them is a template.
  const isLiteral = programFor(job) !== null;
  const templates = isLiteral
    ? []
    : [
        ...templatesIn(definition.action),
        ...Object.values(run.definition.env),
        ...Object.values(definition.env),
        definition.cwd ?? "",
      ].filter(isTemplate);
  const isCustom = !isBuiltInAction(definition.action.type) && !isOfFlow(definition.action.type);
  const code = codeOf(definition.action);
  const needsVariables = templates.length > 0 || isCustom || code !== null;
  const named = outputsNamedBy(code, templates);
  const variables = needsVariables ? variablesFor({ run, job, outputs: named, readArtifact }) : {};
  const later = isCustom
    ? new LaterOutputs(job.id, job.attempt, () =>
        outputsReadLater({ run, job, outputs: withDependencies(job.step, named), readArtifact }),
      )
    : null;
  const seen = later === null ? variables : later.amongst(variables);
  const conditions = conditionsOf(run, job, now, readArtifact);
  const excess = excessOf(conditions);
  const base = {
    ...conditions,
    ...(excess === null ? {} : { userData: { given: {}, outputs: [] } }),
    variables: seen,
  };
  // Empty, because the worker knows where the workspace is now.
  const folder = definition.usesWorkspace ? "" : run.folder;
  const readers = isCustom ? ["env"] : [...templates, code ?? ""];
  const { texts, verbatim } = partsOf(withShell(definition.action, shell));
  const rendering: Rendering = {
    variables,
    env: envTemplates(variables, readers),
    trees: [
      { json: { ...run.definition.env, ...definition.env }, as: "text" },
      // A custom action's keys may hold any values; those of built-in actions are texts.
      { json: texts, as: isCustom ? "value" : "text" },
      { json: definition.cwd ?? ".", as: "text" },
    ],
  };
  return planned(rendering, isLiteral, later, {
    succeeded: ({ env: renderedEnv, trees: [env, action, cwd] }) => ({
      ...base,
      variables: withEnv(seen, renderedEnv),
      action: { ...(action as object), ...verbatim } as ActionDefinition,
      env: env as { [name: string]: string },
      cwd: isAbsolute(cwd as string) ? (cwd as string) : join(folder, cwd as string),
      failedAlready: excess,
    }),
    failed: (message) => ({
      ...base,
      action: definition.action,
      env: {},
      cwd: folder,
      failedAlready: { code: "TEMPLATE_ERROR", message },
    }),
  });
}

/** Renders at once if that is certain to be cheap, else in a thread. */
function planned(
  rendering: Rendering,
  isLiteral: boolean,
  later: LaterOutputs | null,
  make: { succeeded(rendered: Rendered): Assignment; failed(message: string): Assignment },
): PlannedAssignment {
  try {
    const rendered = isLiteral
      ? { env: {}, trees: rendering.trees.map(({ json }) => json) }
      : renderInPlace(rendering);
    if (rendered !== null) return { assignment: make.succeeded(rendered), later, render: null };
  } catch (error) {
    return { assignment: make.failed(messageOf(error)), later, render: null };
  }
  return {
    assignment: make.failed("its templates were not rendered"),
    later,
    render: async (sandbox, signal) => {
      const result = await sandbox.render(rendering, signal);
      return result.ok
        ? make.succeeded(result.value as unknown as Rendered)
        : make.failed(notRendered(result.reason));
    },
  };
}

/** What an attempt gets besides its action: its identity, and the conditions under which it works. */
function conditionsOf(run: Run, job: Job, now: number, readArtifact: ReadArtifact) {
  const { definition } = job.step;
  return {
    ...identityOf(run, job, now),
    secrets: run.definition.secrets,
    hidden: hiddenNames(run.definition.webhook),
    timeoutMs: definition.timeoutMs,
    idleTimeoutMs: definition.idleTimeoutMs,
    killGraceMs: definition.killGraceMs,
    outputSchema: definition.outputSchema,
    ...(definition.files === undefined ? {} : { files: { ...definition.files, folder: run.folder } }),
    ...userDataOf(run, definition),
    ...samplingOf(run.definition),
    ...(definition.forEach ? { maxItems: run.definition.maxItems } : {}),
    resources: resourcesOf(job, definition),
    runsOn: definition.runsOn ?? [],
    summarize: definition.summarize,
    returnCode: job.error?.exit_code ?? null,
    recovery: false,
    lastWorker: null,
    ...ledHere(run, job, readArtifact),
    ...endOf(run, job),
    failureContext: null,
    ...(definition.action.type === "workflow" ? { childSince: job.outcomeDueSince ?? job.attempt } : {}),
    ...assignedWorkspaceOf(run, job),
    ...promptMaterialOf(run, job, readArtifact),
  };
}

function endOf(run: Run, job: Job): Pick<Assignment, "runEnd"> {
  const runEnd = endSeenBy(run, job);
  return runEnd === null ? {} : { runEnd };
}

function userDataOf(run: Run, { userData }: StepDefinition): Pick<Assignment, "userData"> {
  if (userData === undefined) return {};
  return { userData: { given: givenUserData(run, userData.inputs), outputs: userData.outputs } };
}

function samplingOf({ resourceMonitor }: Definition): Pick<Assignment, "sampleEveryMs"> {
  return resourceMonitor === undefined ? {} : { sampleEveryMs: resourceMonitor.sampleIntervalMs };
}

/** The failure if user data is too large, because all of it is sent with the assignment. */
function excessOf({ userData }: Pick<Assignment, "userData">): FailureFacts | null {
  if (userData === undefined) return null;
  const bytes = bytesOf(userData.given);
  if (bytes <= MAX_GIVEN_USER_DATA_BYTES) return null;
  const message = `the user data that the job reads is ${aboutSize(bytes)} of JSON; the limit is ${sizeText(MAX_GIVEN_USER_DATA_BYTES)}`;
  return { code: "USER_DATA_TOO_LARGE", message };
}

function identityOf(run: Run, job: Job, now: number) {
  return {
    runId: run.id,
    workflowId: run.workflowId,
    jobId: job.id,
    stepId: job.step.definition.id,
    attempt: job.attempt,
    token: job.attemptToken ?? "",
    startedAt: now,
    maxLogBytes: run.definition.maxLogBytes,
    ...(run.definition.batch === undefined ? {} : ({ asTorc: true } as const)),
  };
}

function assignedWorkspaceOf(run: Run, job: Job): Pick<Assignment, "workspace"> {
  const path = workspacePathFor(run, job);
  const since = lastCommit(run);
  if (path === null || since === null) return {};
  const { index, definition } = job.step;
  const watchFiles = definition.progress === "files";
  const leavesNoCheckpoint = job.step.atEnd !== null ? ({ leavesNoCheckpoint: true } as const) : {};
  const mayFailYet = definition.failIf === undefined ? {} : ({ mayFailYet: true } as const);
  const how = { watchFiles, ...leavesNoCheckpoint, ...mayFailYet };
  return { workspace: { path, since, ordinal: nextOrdinal(run), index, ...how } };
}

/**
 * The assignment for the recovery script of the rule that was just reserved: a shell command in the workflow file's
 * folder.
 */
export function recoveryFor(run: Run, job: Job, now: number, readArtifact: ReadArtifact): PlannedAssignment {
  const { definition } = job.step;
  const script = job.recovery?.script ?? "true";
  const match = job.error === null ? null : matchRule(run, job, job.error);
  const timeoutMs =
    match !== null && "rule" in match ? match.rule.recoveryTimeoutMs : DEFAULT_RECOVERY_TIMEOUT_MS;
  const assignment = (env: Assignment["env"]): Assignment => ({
    ...identityOf(run, job, now),
    token: job.recovery?.token ?? "",
    action: { type: "command", exec: script },
    env,
    secrets: run.definition.secrets,
    hidden: hiddenNames(run.definition.webhook),
    cwd: run.folder,
    variables: {},
    timeoutMs,
    idleTimeoutMs: null,
    killGraceMs: definition.killGraceMs,
    outputSchema: null,
    failedAlready: null,
    resources: null,
    runsOn: definition.runsOn ?? [],
    summarize: null,
    returnCode: job.error?.exit_code ?? null,
    recovery: true,
    lastWorker: job.attemptWorker,
    failureSource: null,
    failureContext: null,
  });
  const { env } = run.definition;
  return planned(recoveryRendering(run, job, readArtifact), false, null, {
    succeeded: ({ trees: [rendered] }) => assignment(rendered as Assignment["env"]),
    failed: () => assignment(env),
  });
}

/** A variable that cannot be rendered is passed unchanged, because the script may not need it. */
function recoveryRendering(run: Run, job: Job, readArtifact: ReadArtifact): Rendering {
  const { env } = run.definition;
  const templates = Object.values(env).filter(isTemplate);
  const variables = templates.length === 0 ? {} : readableVariables(run, job, templates, readArtifact);
  return {
    variables,
    env: envTemplates(variables, templates),
    trees: [{ json: env, as: "text" }],
    lenient: true,
  };
}

/** Variables without any output if one of them cannot be read. */
function readableVariables(
  run: Run,
  job: Job,
  templates: readonly string[],
  readArtifact: ReadArtifact,
): { readonly [name: string]: Json } {
  try {
    return variablesFor({ run, job, outputs: outputsNamedIn(templates), readArtifact });
  } catch {
    return variablesFor({ run, job, outputs: [], readArtifact });
  }
}

/** The shell of the batch form, which like Torc continues after a failing line. */
function withShell(action: ActionDefinition, found: FoundShell | undefined): ActionDefinition {
  if (action.shell !== BASH_OR_SH) return action;
  const shell: Shell = found === "bash" ? "plain_bash" : "plain_sh";
  return { ...action, shell };
}

/** Splits an action into keys that are templates and others. */
function partsOf(action: ActionDefinition): {
  texts: { [key: string]: Json };
  verbatim: { [key: string]: Json };
} {
  const { verbatimKeys } = actionTraits(action.type);
  const texts: { [key: string]: Json } = {};
  const verbatim: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(action))
    (key === "type" || verbatimKeys.includes(key) ? verbatim : texts)[key] = value;
  return { texts, verbatim };
}

/** The JavaScript of the step; it reads variables by itself. */
function codeOf(action: ActionDefinition): string | null {
  const { scriptKey } = actionTraits(action.type);
  return scriptKey === null ? null : String(action[scriptKey]);
}

function outputsNamedBy(code: string | null, templates: readonly string[]): readonly string[] | "all" {
  const inCode = code === null ? [] : outputsNamedInCode(code);
  const inTemplates = outputsNamedIn(templates);
  if (inCode === "all" || inTemplates === "all") return "all";
  return [...new Set([...inTemplates, ...inCode])];
}

/** A custom action is code of the library's user, so it may read the output of every step it depends on. */
function withDependencies(step: GraphStep, named: readonly string[] | "all"): readonly string[] | "all" {
  return named === "all" ? named : [...new Set([...dependenciesOf(step), ...named])];
}

/** Reading more templates would take longer than passing all outputs. */
const MAX_TEMPLATES_READ = 500;

function outputsNamedIn(templates: readonly string[]): readonly string[] | "all" {
  if (templates.length > MAX_TEMPLATES_READ) return "all";
  const names = new Set<string>();
  for (const template of templates) {
    const named = outputsNamedInTemplate(template);
    if (named === "all") return "all";
    for (const name of named) names.add(name);
  }
  return [...names];
}

/** All steps that it depends on, directly or through others. */
function dependenciesOf(step: GraphStep): string[] {
  const found = new Set(step.groups.flat());
  for (const dependency of found) for (const further of dependency.groups.flat()) found.add(further);
  return [...found].map(({ definition }) => definition.id);
}

function* templatesIn(action: ActionDefinition): Generator<string> {
  const { verbatimKeys } = actionTraits(action.type);
  for (const [key, value] of Object.entries(action)) if (!verbatimKeys.includes(key)) yield* stringsIn(value);
}
