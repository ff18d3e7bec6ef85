import type { BuiltInAction } from "../core/model/action-traits.js";
import type { Definition } from "../core/model/definition.js";
import type { Json } from "../core/text/json.js";
import type { ACTION_FIELDS } from "./fields/action-fields.js";
import type { JOB_FIELDS } from "./fields/job-fields.js";
import type { STEP_FIELDS } from "./fields/step-fields.js";
import type { WORKFLOW_FIELDS } from "./fields/workflow-fields.js";
import { InvalidWorkflow } from "./invalid-workflow.js";
import { type LoadOptions, readDefinition } from "./load.js";
import { readObject } from "./read/json-tree.js";
import { Findings } from "./read/problem.js";
import type { Written, WrittenFields } from "./read/schema.js";

/** Without the checks expressions and templates are first compiled, and their names looked up, when the run needs them. */
type DefineOptions = Partial<Omit<LoadOptions, "file">>;

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

/** A workflow in TypeScript, with the keys of the file. Nothing is listed here: a key of the tables is a key of these types. */
export interface WorkflowInput
  extends Omit<WrittenFields<typeof WORKFLOW_FIELDS>, "name" | "steps" | "jobs"> {
  readonly name: string;
  /** A workflow has either steps or jobs. */
  readonly steps?: { readonly [id: string]: StepInput } | undefined;
  readonly jobs?: readonly JobInput[] | undefined;
}

/** `type` comes with the action; `execution` is another spelling, for files of other formats. */
interface CommonStepInput extends Omit<WrittenFields<typeof STEP_FIELDS>, "type" | "execution"> {}

/** A job of the batch form: a command for every combination of its parameters. */
export interface JobInput extends WrittenFields<typeof JOB_FIELDS> {}

/** Only a command need not say what it is. */
type TypeKey<Type extends BuiltInAction> = Type extends "command"
  ? { readonly type?: Type | undefined }
  : { readonly type: Type };

type BuiltInStepInput = {
  [Type in BuiltInAction]: CommonStepInput & TypeKey<Type> & WrittenFields<(typeof ACTION_FIELDS)[Type]>;
}[BuiltInAction];

/** A step of an action that the program registers itself; its own keys stand under `implementation`. */
interface CustomStepInput extends CommonStepInput {
  readonly kind: string;
  readonly implementation: { readonly [key: string]: Json };
}

export type StepInput = BuiltInStepInput | CustomStepInput;

export type TransitionInput = Written<(typeof WORKFLOW_FIELDS)["transitions"]["schema"]>[number];
type FailureHandlerInput = Written<(typeof WORKFLOW_FIELDS)["failure_handlers"]["schema"]>[number];
export type FailureRuleInput = FailureHandlerInput["rules"][number];
export type RoutingInput = Written<(typeof STEP_FIELDS)["on_success"]["schema"]>;
