import { BUILT_IN_ACTIONS, type BuiltInAction } from "../../core/model/action-traits.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import { childPath, type Path } from "../read/path.js";
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
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { didYouMean, quote } from "../read/suggest.js";
import {
  AGENT_NEEDS,
  agentFields,
  finishAgent,
  finishLlmCall,
  LLM_CALL_NEEDS,
  llmCallFields,
  redirectOriginsField,
} from "./agent-fields.js";
import { checkTemplateText, script, shellLine } from "./code-fields.js";
import { refuseShellOfList, shellField } from "./shell-field.js";

const DEFAULT_CHOICES = ["approve", "reject"] as const;
const DEFAULT_REJECT = "reject";

/** A human step with its choices filled in; `reject` may only name some of them. */
function finishHuman(
  action: ActionDefinition,
  node: SourceMap,
  path: Path | null,
  context: ReadContext,
): ActionDefinition {
  const choices = [...new Set((action.choices as readonly string[] | undefined) ?? DEFAULT_CHOICES)];
  const given = action.reject as readonly string[] | undefined;
  const reject = [...new Set(given ?? choices.filter((choice) => choice === DEFAULT_REJECT))];
  const report = (message: string, hint: string, key = "reject") => {
    const at = findEntry(node, key)?.keyAt ?? node.at;
    context.findings.error({ code: "INVALID_VALUE", message, hint, at, path: childPath(path, key) });
  };
  const unknown = (key: string, choice: string) => {
    const suggestion = context.findings.suggester.nearest(choice, choices);
    const message = `\`${key}\` names ${quote(choice)}, which is not one of the choices${didYouMean(suggestion)}`;
    report(message, `Choices of the step: ${choices.join(", ")}.`, key);
  };
  for (const choice of reject) if (!choices.includes(choice)) unknown("reject", choice);
  const chosen = chosenWithout(action);
  if (chosen !== null && !choices.includes(chosen)) unknown("then", chosen);
  if (action.then !== undefined && action.expires === undefined && findEntry(node, "expires") === undefined)
    report("`then` has no effect without `expires`", "Add `expires`, such as `expires: 4h`.", "then");
  if (given !== undefined && choices.every((choice) => reject.includes(choice)))
    report("every choice fails the step", "Leave at least one choice out of `reject`.");
  return { ...action, choices, reject };
}

/** What counts as the answer to a question that nobody answers; null: nothing does. */
export function chosenWithout({ then }: ActionDefinition): string | null {
  const isChosen = typeof then === "object" && then !== null && "choose" in then;
  return isChosen && typeof then.choose === "string" ? then.choose : null;
}

const HTTP_METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
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
