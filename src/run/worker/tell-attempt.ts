import { join } from "node:path";
import { previousPatch } from "../../core/model/files-policy.js";
import type { Redactor } from "../../core/redaction/redaction.js";
import type { Json } from "../../core/text/json.js";
import type { AttemptPrompt } from "../action/action.js";
import type { Assignment } from "../worker.js";
import type { AttemptFiles } from "./attempt-environment.js";
import { runFolder } from "./attempt-paths.js";
import { writeFailureContext } from "./failure-context-files.js";
import { hintTold, writePrompt, writeRetryContext } from "./prompt-files.js";

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
