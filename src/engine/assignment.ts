import { isAbsolute, join } from "node:path";
import type { ActionDefinition } from "../core/definition.js";
import type { FailureFacts } from "../core/failure.js";
import type { Json } from "../core/json.js";
import type { Job, Run } from "../core/run.js";
import { renderDeep } from "../sandbox/template.js";
import { outputsNamed } from "../sandbox/template-variables.js";
import type { Assignment } from "../worker/worker.js";
import { type ReadArtifact, variablesFor } from "./variables.js";

/** Keys of an action that hold code; they are not templates. */
const CODE_KEYS: { readonly [type: string]: readonly string[] } = { script: ["content"] };

/** Everything a worker needs for the attempt that has just been started, rendered over the run as it is now. */
export function assignmentFor(run: Run, job: Job, now: number, readArtifact: ReadArtifact): Assignment {
  const { definition } = job.step;
  const texts = [
    ...stringsIn(definition.action),
    ...Object.values(run.definition.env),
    ...Object.values(definition.env),
    definition.cwd ?? "",
  ];
  const needsVariables =
    texts.some(mayReadVariables) || isCustom(definition.action.type) || definition.action.type === "script";
  const variables = needsVariables
    ? variablesFor({ run, job, outputs: outputsNamedIn(texts, definition.action), readArtifact })
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
  };
  try {
    const env = renderDeep({ ...run.definition.env, ...definition.env }, variables) as {
      [name: string]: string;
    };
    const action = renderAction(definition.action, variables);
    const cwd = renderDeep(definition.cwd ?? ".", variables) as string;
    return { ...base, action, env, cwd: isAbsolute(cwd) ? cwd : join(run.folder, cwd), failedAlready: null };
  } catch (error) {
    const failedAlready: FailureFacts = {
      code: "TEMPLATE_ERROR",
      message: error instanceof Error ? error.message : String(error),
    };
    return { ...base, action: definition.action, env: {}, cwd: run.folder, failedAlready };
  }
}

function renderAction(
  action: ActionDefinition,
  variables: { readonly [name: string]: Json },
): ActionDefinition {
  const code = CODE_KEYS[action.type] ?? [];
  const rendered: { [key: string]: Json } = {};
  for (const [key, value] of Object.entries(action)) {
    rendered[key] = key === "type" || code.includes(key) ? value : renderDeep(value, variables);
  }
  return rendered as ActionDefinition;
}

const BUILT_IN = new Set(["command", "http", "script", "noop"]);

function isCustom(type: string): boolean {
  return !BUILT_IN.has(type);
}

function mayReadVariables(text: string): boolean {
  return text.includes("{{") || text.includes("{%");
}

/** A custom action is code of the library's user: it may read any output. */
function outputsNamedIn(texts: readonly string[], action: ActionDefinition): readonly string[] | "all" {
  if (isCustom(action.type)) return "all";
  const names = new Set<string>();
  for (const text of texts) {
    if (!mayReadVariables(text) && action.type !== "script") continue;
    const named = outputsNamed(text);
    if (named === "all") return "all";
    for (const name of named) names.add(name);
  }
  return [...names];
}

function* stringsIn(json: Json): Generator<string> {
  if (typeof json === "string") yield json;
  else if (Array.isArray(json)) for (const item of json) yield* stringsIn(item);
  else if (json !== null && typeof json === "object")
    for (const item of Object.values(json)) yield* stringsIn(item);
}
