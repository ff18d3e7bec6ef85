import { isAbsolute, join } from "node:path";
import type { Command } from "../core/commands.js";
import { type ActionDefinition, DEFAULT_RECOVERY_TIMEOUT_MS } from "../core/definition.js";
import type { FailureFacts } from "../core/failure.js";
import type { GraphStep } from "../core/graph.js";
import type { Json } from "../core/json.js";
import { matchRule } from "../core/ladder/rule.js";
import { messageOf } from "../core/message-of.js";
import type { Job, Run } from "../core/run.js";
import { lastCommit, nextOrdinal, workspacePathFor } from "../core/workspace-state.js";
import { outputsNamedInCode, outputsNamedInTemplate } from "../sandbox/names/find-names.js";
import { renderDeep, renderTemplate, renderValue } from "../sandbox/template.js";
import type { Assignment, FailureSource, Report } from "../worker/worker.js";
import { promptMaterialOf, upstreamOf } from "./prompt-material.js";
import { type ReadArtifact, variablesFor } from "./variables.js";

/** Keys of an action that hold code; they are not templates. */
const CODE_KEYS: { readonly [type: string]: readonly string[] } = {
  script: ["content"],
  llm_call: ["schema"],
};

/** Everything a worker needs for the attempt that has just been started, rendered over the run as it is now. */
export function assignmentFor(run: Run, job: Job, now: number, readArtifact: ReadArtifact): Assignment {
  const { definition } = job.step;
  const templates = [
    ...templatesIn(definition.action),
    ...Object.values(run.definition.env),
    ...Object.values(definition.env),
    definition.cwd ?? "",
  ].filter(mayReadVariables);
  const needsVariables =
    templates.length > 0 || isCustom(definition.action.type) || definition.action.type === "script";
  const variables = needsVariables
    ? variablesFor({ run, job, outputs: outputsNamedBy(job.step, templates), readArtifact })
    : {};
  const base = {
    runId: run.id,
    workflowId: run.workflowId,
    jobId: job.id,
    stepId: definition.id,
    attempt: job.attempt,
    token: job.attemptToken ?? "",
    startedAt: now,
    secrets: run.definition.secrets,
    variables,
    timeoutMs: definition.timeoutMs,
    idleTimeoutMs: definition.idleTimeoutMs,
    killGraceMs: definition.killGraceMs,
    outputSchema: definition.outputSchema,
    ...(definition.forEach ? { maxItems: run.definition.maxItems } : {}),
    resources: definition.resources,
    runsOn: definition.runsOn ?? [],
    summarize: definition.summarize,
    returnCode: job.error?.exit_code ?? null,
    recovery: false,
    lastWorker: null,
    failureSource: failureSourceOf(run, job, readArtifact),
    failureContext: null,
    ...assignedWorkspaceOf(run, job),
    ...promptMaterialOf(run, job, readArtifact),
  };
  // The worker knows where the workspace lies now.
  const folder = definition.usesWorkspace ? "" : run.folder;
  try {
    const env = renderDeep({ ...run.definition.env, ...definition.env }, variables) as {
      [name: string]: string;
    };
    const action = renderAction(definition.action, variables);
    const cwd = renderDeep(definition.cwd ?? ".", variables) as string;
    return { ...base, action, env, cwd: isAbsolute(cwd) ? cwd : join(folder, cwd), failedAlready: null };
  } catch (error) {
    const failedAlready: FailureFacts = {
      code: "TEMPLATE_ERROR",
      message: messageOf(error),
    };
    return { ...base, action: definition.action, env: {}, cwd: folder, failedAlready };
  }
}

function assignedWorkspaceOf(run: Run, job: Job): Pick<Assignment, "workspace"> {
  const path = workspacePathFor(run, job);
  const since = lastCommit(run);
  if (path === null || since === null) return {};
  const { index, definition } = job.step;
  const watchFiles = definition.progress === "files";
  return { workspace: { path, since, ordinal: nextOrdinal(run), index, watchFiles } };
}

/** The failure that an edge brought to this job, for its context file. */
function failureSourceOf(run: Run, job: Job, readArtifact: ReadArtifact): FailureSource | null {
  const from = job.routedFrom;
  if (from === null) return null;
  const { definition } = from.job.step;
  return {
    workflowId: run.workflowId,
    runId: run.id,
    jobId: from.job.id,
    attempt: from.attempt,
    step: definition.id,
    target: job.step.definition.id,
    edge: from.edge,
    failure: from.failure,
    maxRetries: definition.onFail.retry?.max ?? 0,
    retriesUsed: from.job.retriesInVisit,
    upstream: upstreamOf(job, readArtifact),
  };
}

/** The recovery script of the rule that has just been reserved: a shell command in the workflow file's folder. */
export function recoveryFor(run: Run, job: Job, now: number, readArtifact: ReadArtifact): Assignment {
  const { definition } = job.step;
  const script = job.recovery?.script ?? "true";
  const match = job.error === null ? null : matchRule(run, job, job.error);
  const timeoutMs =
    match !== null && "rule" in match ? match.rule.recoveryTimeoutMs : DEFAULT_RECOVERY_TIMEOUT_MS;
  return {
    runId: run.id,
    workflowId: run.workflowId,
    jobId: job.id,
    stepId: definition.id,
    attempt: job.attempt,
    token: job.recovery?.token ?? "",
    startedAt: now,
    action: { type: "command", exec: script },
    env: recoveryEnv(run, job, readArtifact),
    secrets: run.definition.secrets,
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
  };
}

/** A variable that does not render is passed as it stands: the script may not need it. */
function recoveryEnv(run: Run, job: Job, readArtifact: ReadArtifact): { [name: string]: string } {
  const env: { [name: string]: string } = { ...run.definition.env };
  for (const [name, text] of Object.entries(env)) {
    if (!mayReadVariables(text)) continue;
    try {
      const variables = variablesFor({ run, job, outputs: outputsNamedInTemplate(text), readArtifact });
      env[name] = renderDeep(text, variables) as string;
    } catch {}
  }
  return env;
}

/** What a worker's report means to the core. */
export function reportCommand(
  { jobId: job, attempt, recovery }: Pick<Assignment, "jobId" | "attempt" | "recovery">,
  { result, durationMs }: Report,
): Command {
  if (!recovery) return { type: "attempt.finish", job, attempt, result, durationMs };
  const failed = result.kind === "failed" ? result.facts : null;
  return {
    type: "recovery.finish",
    job,
    attempt,
    durationMs,
    ok: result.kind === "succeeded",
    lost: failed?.lost === true,
    exitCode: failed?.exitCode ?? (result.kind === "succeeded" ? 0 : null),
    message: failed?.message ?? (result.kind === "stopped" ? "stopped" : ""),
  };
}

function renderAction(
  action: ActionDefinition,
  variables: { readonly [name: string]: Json },
): ActionDefinition {
  const code = CODE_KEYS[action.type] ?? [];
  // What a program has written for itself takes values; the keys of built-in actions are texts.
  const render = isCustom(action.type) ? renderValue : renderTemplate;
  const rendered: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(action)) {
    rendered[key] = key === "type" || code.includes(key) ? value : renderDeep(value, variables, render);
  }
  return rendered as ActionDefinition;
}

const BUILT_IN = new Set(["command", "http", "script", "noop", "workflow", "human", "agent", "llm_call"]);

function isCustom(type: string): boolean {
  return !BUILT_IN.has(type);
}

function mayReadVariables(text: string): boolean {
  return text.includes("{{") || text.includes("{%");
}

/** A custom action is code of the library's user: it may read the output of any step it depends on. */
function outputsNamedBy(step: GraphStep, templates: readonly string[]): readonly string[] | "all" {
  const { action } = step.definition;
  const names = new Set(isCustom(action.type) ? dependenciesOf(step) : []);
  const named = templates.map(outputsNamedInTemplate);
  if (action.type === "script") named.push(outputsNamedInCode(String(action.content)));
  for (const some of named) {
    if (some === "all") return "all";
    for (const name of some) names.add(name);
  }
  return [...names];
}

/** Directly or through others. */
function dependenciesOf(step: GraphStep): string[] {
  const found = new Set(step.groups.flat());
  for (const dependency of found) for (const further of dependency.groups.flat()) found.add(further);
  return [...found].map(({ definition }) => definition.id);
}

function* templatesIn(action: ActionDefinition): Generator<string> {
  const code = CODE_KEYS[action.type] ?? [];
  for (const [key, value] of Object.entries(action)) if (!code.includes(key)) yield* stringsIn(value);
}

function* stringsIn(json: Json): Generator<string> {
  if (typeof json === "string") yield json;
  else if (Array.isArray(json)) for (const item of json) yield* stringsIn(item);
  else if (json !== null && typeof json === "object")
    for (const item of Object.values(json)) yield* stringsIn(item);
}
