import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import type { AttemptPrompt } from "../action/action.js";
import { agentCommandLine } from "../action/agent-command.js";
import { assemblePrompt, type PromptInput, type RetryPart } from "../core/failure/prompt.js";
import type { Redactor } from "../core/redaction/redaction.js";
import type { Json } from "../core/text/json.js";
import { promptArtifact, summaryArtifact } from "./attempt-paths.js";
import { failureContextInput, readIfThere } from "./failure-context-files.js";
import type { Assignment, PromptMaterial, RetryMaterial } from "./worker.js";

/**
 * What the attempt of an agent or a model is told, as one bounded text beside the attempt's other files, with the
 * manifest of what was included, cut and dropped. Redacted part by part before it is assembled, so that no label makes
 * it longer than it may be and no fence is taken over hidden text.
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
    retry: material.retry === null ? null : retryPart(base, assignment, material.retry, redactor),
  };
  const { text, system, manifest } = assemblePrompt(input);
  const files = promptArtifact(base, assignment);
  mkdirSync(dirname(files.text), { recursive: true, mode: 0o700 });
  writeFileSync(files.text, text, { mode: 0o600 });
  writeFileSync(files.manifest, JSON.stringify(manifest), { mode: 0o600 });
  return { text, system, file: files.text };
}

/** The same assignment with what a worker needs for the prompt that lies here in files. */
export function withPromptFiles(base: string, assignment: Assignment): Assignment {
  const { promptMaterial, failureSource } = assignment;
  if (promptMaterial === undefined) return assignment;
  const { retry } = promptMaterial;
  return {
    ...assignment,
    promptMaterial: {
      ...promptMaterial,
      retry: retry === null ? null : { ...retry, summary: summaryOf(base, assignment, retry) },
      ...(failureSource === null ? {} : { failure: failureContextInput(base, assignment, failureSource) }),
    },
  };
}

function summaryOf(base: string, assignment: Assignment, { attempt }: RetryMaterial): string | null {
  if (assignment.summarize === null) return null;
  return readIfThere(summaryArtifact(base, { ...assignment, attempt }));
}

function retryPart(
  base: string,
  assignment: Assignment,
  retry: RetryMaterial,
  redactor: Redactor,
): RetryPart {
  const { failure, changedFiles, diffHash } = retry;
  const lastCommand = retry.lastCommand ?? agentCommandLine(assignment.action);
  return {
    attempt: retry.attempt,
    failure,
    signature: retry.signature,
    stderr: failure.stderr_tail,
    // The built-in summary repeats the last lines of the log; only what the step's own command says is new.
    summary: retry.summary === undefined ? summaryOf(base, assignment, retry) : retry.summary,
    lastCommand: lastCommand === null ? null : redactor.redact(lastCommand),
    changes:
      diffHash === undefined
        ? null
        : { files: changedFiles?.map((file) => redactor.redact(file)) ?? null, diffHash },
  };
}
