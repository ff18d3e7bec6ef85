import { BUILT_IN_ACTIONS, type BuiltInAction } from "../../core/model/action-traits.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import type { Path } from "../read/path.js";
import {
  type Fields,
  type JsonSchema,
  listOf,
  mapOf,
  object,
  type ReadContext,
  type Schema,
  union,
} from "../read/schema.js";
import { duration, json, number, oneOf, scalarText, text } from "../read/schema-scalars.js";
import type { SourceMap } from "../read/source-tree.js";
import {
  AGENT_NEEDS,
  agentFields,
  finishAgent,
  finishLlmCall,
  LLM_CALL_NEEDS,
  llmCallFields,
} from "./agent-fields.js";
import { checkTemplateText, script, shellLine } from "./code-fields.js";
import { DEFAULT_CHOICES, finishHuman } from "./human-choices.js";
import { redirectOriginsField } from "./redirect-field.js";
import { refuseShellOfList, shellField } from "./shell-field.js";

export const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
export const DEFAULT_HTTP_METHOD = "GET";
const MAX_CHOICE_CHARS = 200;

const template = (expected: string) => scalarText({ expected, mayBeEmpty: true, check: checkTemplateText });
const filledTemplate = (expected: string) => text({ expected, check: checkTemplateText });

const headers = asObject(
  mapOf(template("a header's value"), {
    keyPattern: /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,200}$/,
    keyRule: "A header's name has letters, digits and `-`.",
  }),
);

const status = union(
  number({ min: 100, max: 599, whole: true }),
  text({
    expected: "a class such as `2xx`",
    pattern: /^(?:[1-5]xx|[1-5]\d\d)$/,
    rule: "Write a status such as 200, or a class such as `2xx`.",
  }),
);

const commandFields = {
  exec: {
    schema: union(
      shellLine(),
      listOf(template("an argument"), { items: "a program's name and arguments", notEmpty: true }),
    ),
    doc: "Command lines for the shell, or a list of a program and its arguments that no shell sees.",
    required: true,
  },
  shell: shellField,
  stdin: { schema: template("text"), doc: "What the process reads on its standard input." },
} as const satisfies Fields;

const httpFields = {
  url: { schema: filledTemplate("an address"), doc: "The address to call.", required: true },
  method: { schema: oneOf(HTTP_METHODS), doc: "The method.", default: DEFAULT_HTTP_METHOD },
  headers: { schema: headers, doc: "Headers to send." },
  body: { schema: json(checkTemplateText), doc: "Text, or any JSON, which is sent as JSON." },
  expect_status: {
    schema: union(status, listOf(status, { items: "statuses", notEmpty: true })),
    doc: "The statuses that count as success; others fail the attempt.",
    default: "2xx",
  },
  redirect_origins: redirectOriginsField,
} as const satisfies Fields;

const scriptFields = {
  content: { schema: script(), doc: "JavaScript that returns the step's output.", required: true },
} as const satisfies Fields;

const noopFields = {
  output: { schema: json(checkTemplateText), doc: "The step's output." },
} as const satisfies Fields;

const choice = text({ expected: "a choice", maxChars: MAX_CHOICE_CHARS, asWritten: true });

const humanFields = {
  prompt: { schema: filledTemplate("a question"), doc: "The question.", required: true },
  choices: {
    schema: listOf(choice, { items: "choices", notEmpty: true }),
    doc: "The answers to choose from.",
    default: [...DEFAULT_CHOICES],
  },
  reject: {
    schema: listOf(choice, { items: "choices" }),
    doc: "The choices that fail the step; `reject` if it is among the choices.",
  },
  expires: { schema: duration({ min: 1 }), doc: "How long the question waits for an answer." },
  then: {
    schema: union(
      oneOf(["fail"]),
      object({ choose: { schema: choice, doc: "The choice that counts as the answer.", required: true } }),
    ),
    doc: "What is done when `expires` is over: the attempt fails (`TIMEOUT`), or a choice counts as the answer.",
    default: "fail",
  },
} as const satisfies Fields;

const workflowInputs = asObject(
  mapOf(json(checkTemplateText), {
    keyPattern: /^[A-Za-z_][A-Za-z0-9_-]*$/,
    keyRule: "An input's name has letters, digits, `_` and `-`, and begins with a letter or `_`.",
  }),
);

const workflowFields = {
  file: {
    schema: text({
      expected: "a workflow file's path",
      pattern: /^(?!.*(?:\{\{|\{%))/s,
      rule: "Write a fixed path; a template cannot choose the workflow.",
    }),
    doc: "The workflow file to run; a relative path starts at this file's folder.",
    required: true,
  },
  inputs: { schema: workflowInputs, doc: "The inputs of that run." },
} as const satisfies Fields;

/** The own keys of each built-in action. */
export const ACTION_FIELDS = {
  command: commandFields,
  http: httpFields,
  script: scriptFields,
  noop: noopFields,
  human: humanFields,
  workflow: workflowFields,
  agent: agentFields,
  llm_call: llmCallFields,
} as const satisfies { readonly [type in BuiltInAction]: Fields };

/** What the keys of an action say together. */
interface ActionRules {
  /** Reports what does not fit, and fills in what is left out. */
  finish(
    action: ActionDefinition,
    node: SourceMap,
    path: Path | null,
    context: ReadContext,
  ): ActionDefinition;
  /** The needs as a JSON Schema, for editors. */
  readonly needs?: JsonSchema;
}

/** Rules for actions whose keys cannot be checked one by one. */
export const ACTION_RULES: { readonly [type in BuiltInAction]?: ActionRules } = {
  command: { finish: refuseShellOfList },
  human: { finish: finishHuman },
  agent: { finish: finishAgent, needs: AGENT_NEEDS },
  llm_call: { finish: finishLlmCall, needs: LLM_CALL_NEEDS },
};

/** Which built-in actions have a key of this name. */
export function actionsWithKey(key: string): readonly BuiltInAction[] {
  return BUILT_IN_ACTIONS.filter((type) => Object.hasOwn(ACTION_FIELDS[type], key));
}

function asObject<T, W>(map: Schema<ReadonlyMap<string, T>, W>): Schema<{ [name: string]: T }, W> {
  return { ...map, read: (node, path, context) => toObject(map.read(node, path, context)) };
}

export function toObject<T>(map: ReadonlyMap<string, T> | undefined): { [name: string]: T } | undefined {
  return map === undefined ? undefined : Object.fromEntries(map);
}
