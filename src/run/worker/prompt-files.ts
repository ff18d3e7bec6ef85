import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { assemblePrompt, type PromptInput, type RetryPart } from "../../core/failure/prompt.js";
import { buildRetryContext } from "../../core/failure/retry-context.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import { previousPatch } from "../../core/model/files-policy.js";
import type { Hint } from "../../core/model/led-by.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import type { Json } from "../../core/text/json.js";
import type { AttemptPrompt } from "../action/action.js";
import type { Assignment, PromptMaterial, RetryMaterial } from "../worker.js";
import type { AttemptFiles } from "./attempt-environment.js";
import { promptArtifact, retryContextArtifact, runFolder, summaryArtifact } from "./attempt-paths.js";
import { failureContextInput, readIfThere, writeFailureContext } from "./failure-context-files.js";

/**
 * Writes the prompt of an agent or model: a bounded text beside the attempt's other files, with a manifest of what was
 * included, cut and dropped. Each part is redacted before assembly, so that no label makes it longer than allowed, and
 * no fence is computed over hidden text.
 */
export function writePrompt(
  base: string,
  assignment: Assignment,
  material: PromptMaterial,
  redactor: Redactor,
): AttemptPrompt {
  const { action, failureSource } = assignment;
  const said = (value: Json | undefined): string | null =>
    typeof value === "string" ? redactor.redact(value) : null;
  const input: PromptInput = {
    objective: said(action.objective) ?? redactor.redact(material.objective),
    step: assignment.stepId,
    instructions: said(action.prompt) ?? "",
    system: said(action.system),
    bare: action.type !== "agent",
    failure:
      material.failure ??
      (failureSource === null ? null : failureContextInput(base, assignment, failureSource)),
    upstream: material.upstream,
    retry: retryPart(base, assignment, redactor),
    hint: hintTold(assignment, redactor),
    earlierFiles: assignment.earlierFiles ?? [],
  };
  const { text, system, manifest } = assemblePrompt(input);
  const files = promptArtifact(base, assignment);
  mkdirSync(dirname(files.text), { recursive: true, mode: 0o700 });
  writeFileSync(files.text, text, { mode: 0o600 });
  writeFileSync(files.manifest, JSON.stringify(manifest), { mode: 0o600 });
  return { text, system, file: files.text };
}

/** The assignment with what a worker needs for a prompt whose files are here. */
export function withPromptFiles(base: string, assignment: Assignment): Assignment {
  const { promptMaterial, failureSource, retry } = assignment;
  return {
    ...assignment,
    ...(retry === undefined ? {} : { retry: { ...retry, summary: summaryOf(base, assignment, retry) } }),
    ...(promptMaterial === undefined || failureSource === null
      ? {}
      : {
          promptMaterial: {
            ...promptMaterial,
            failure: failureContextInput(base, assignment, failureSource),
          },
        }),
  };
}

/** Writes the minimal retry context for `$DARUMA_RETRY_CONTEXT`. Null if nothing of the step has failed before. */
function writeRetryContext(base: string, assignment: Assignment, redactor: Redactor): string | null {
  const retry = retryPart(base, assignment, redactor);
  if (retry === null) return null;
  const { text } = buildRetryContext({
    ...retry,
    ...{ objective: null, step: assignment.stepId, title: null, instructions: null },
  });
  const file = retryContextArtifact(base, assignment);
  mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
  writeFileSync(file, text, { mode: 0o600 });
  return file;
}

function hintTold({ hint }: Assignment, redactor: Redactor): Hint | null {
  return hint === undefined ? null : { by: hint.by, text: redactor.redact(hint.text) };
}

function summaryOf(base: string, assignment: Assignment, { attempt }: RetryMaterial): string | null {
  if (assignment.summarize === null) return null;
  return readIfThere(summaryArtifact(base, { ...assignment, attempt }));
}

function retryPart(base: string, assignment: Assignment, redactor: Redactor): RetryPart | null {
  const { retry } = assignment;
  if (retry === undefined) return null;
  const { failure, changedFiles, diffHash } = retry;
  const lastCommand = commandLineOf(assignment.action);
  return {
    attempt: retry.attempt,
    failure,
    signature: retry.signature,
    stderr: failure.stderr_tail,
    // A model's answer is its transcript; it prints nothing else.
    stdout: assignment.action.type === "llm_call" ? null : failure.stdout_tail,
    repairs: retry.repairs,
    // The built-in summary repeats the last lines of the log, so only that of the step's own command is new.
    summary: retry.summary === undefined ? summaryOf(base, assignment, retry) : retry.summary,
    lastCommand: lastCommand === null ? null : redactor.redact(lastCommand),
    changes:
      diffHash === undefined
        ? null
        : { files: changedFiles?.map((file) => redactor.redact(file)) ?? null, diffHash },
  };
}

/** The command line of the step. An agent knows how it was started, and that did not cause the failure. */
function commandLineOf({ type, exec }: ActionDefinition): string | null {
  if (type !== "command") return null;
  return typeof exec === "string" ? exec : (exec as readonly string[]).join(" ");
}

/** What an attempt is told about the past, for its environment, its prompt and its variables. */
interface Told {
  readonly files: Omit<AttemptFiles, "output" | "failure">;
  readonly prompt: AttemptPrompt | null;
  readonly variables: Assignment["variables"];
}

/** Writes these to files beside the attempt's other files. A first attempt to which no failure led has none. */
export function tellAttempt(base: string, assignment: Assignment, redactor: Redactor): Told {
  const context = writeFailureContext(base, assignment);
  const { promptMaterial, variables, earlierFiles = [] } = assignment;
  const patch = previousPatch(earlierFiles);
  const files = {
    failureContext: context?.file ?? null,
    retryContext: writeRetryContext(base, assignment, redactor),
    hint: hintTold(assignment, redactor)?.text ?? null,
    previousPatch: patch === null ? null : join(runFolder(base, assignment.runId), patch),
  };
  return {
    files,
    prompt: promptMaterial === undefined ? null : writePrompt(base, assignment, promptMaterial, redactor),
    variables: context === null ? variables : withContext(variables, context.text),
  };
}

/** Adds the envelope to the variables of templates and expressions. */
function withContext(variables: Assignment["variables"], context: string): Assignment["variables"] {
  return { ...variables, failure: { ...(variables.failure as { [name: string]: Json } | null), context } };
}
