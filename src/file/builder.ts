import type { Definition } from "../core/model/definition.js";
import { InvalidWorkflow } from "./invalid-workflow.js";
import { type LoadOptions, readDefinition } from "./load.js";
import { readObject } from "./read/json-tree.js";
import { Findings } from "./read/problem.js";
import type { WorkflowInput } from "./workflow-input.js";

/** Without the checks expressions and templates are first compiled, and their names looked up, when the run needs them. */
export type DefineOptions = Partial<Omit<LoadOptions, "file">>;

const unchecked = () => null;
const DEFAULT_NAME = "workflow";

/** A workflow written in TypeScript: the file's keys, the file's checks, the same Definition. */
export function defineWorkflow(input: WorkflowInput, options: DefineOptions = {}): Definition {
  const findings = new Findings();
  const root = readObject(input, findings);
  const {
    checkExpression = unchecked,
    checkTemplate = unchecked,
    customActions = customKinds(input),
    ...rest
  } = options;
  const checks = { ...rest, checkExpression, checkTemplate, customActions, findings };
  const read = root === null ? null : readDefinition(root, DEFAULT_NAME, checks);
  if (read !== null) return read.definition;
  throw new InvalidWorkflow(
    null,
    findings.errors.map(({ code, message, hint, path }) => ({
      ...{ code, message, hint, path },
      ...{ file: "", line: 0, column: 0 },
    })),
  );
}

/** A program that writes `kind` means an action it registers; whether it did shows when the run starts. */
function customKinds(input: WorkflowInput): string[] {
  if (typeof input?.steps !== "object" || input.steps === null) return [];
  return Object.values(input.steps).flatMap((step) =>
    typeof step === "object" && step !== null && "kind" in step && typeof step.kind === "string"
      ? [step.kind]
      : [],
  );
}
