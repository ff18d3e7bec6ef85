import { BUILT_IN_ACTIONS, type BuiltInAction, isBuiltInAction } from "../../core/model/action-traits.js";
import type { ActionDefinition } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import { rename } from "../read/fix.js";
import { childPath, type Path } from "../read/path.js";
import {
  type Fields,
  type JsonDefinitions,
  type JsonSchema,
  type Located,
  object,
  type ReadContext,
  type ReadOf,
  type Schema,
  wrongType,
} from "../read/schema.js";
import { json, mayBeKey } from "../read/schema-scalars.js";
import { findEntry, type SourceMap, type SourceNode } from "../read/source-tree.js";
import { didYouMean, quote } from "../read/suggest.js";
import { ACTION_FIELDS, ACTION_RULES, actionsWithKey, DEFAULT_HTTP_METHOD } from "./action-fields.js";
import { checkTemplateText } from "./code-fields.js";
import { belongsOutside, STEP_FIELDS, whyNoStepKey } from "./step-fields.js";

export type StepKeys = ReadOf<typeof STEP_FIELDS>;

/** A step as its file gives it, before defaults and references are settled. */
/** What a job of the batch form reads and writes by name. */
export interface RawUserData {
  readonly inputs: readonly Located<string>[];
  readonly outputs: readonly Located<string>[];
  readonly ephemeral: boolean;
}

export interface RawStep {
  readonly keys: StepKeys;
  readonly family?: string | undefined;
  readonly userData?: RawUserData | undefined;
  readonly action: ActionDefinition;
  readonly node: SourceMap;
  readonly path: Path | null;
}

const IMPLEMENTATION = "implementation";
const customValue = json(checkTemplateText);

/** Made when they are first needed: most files have one type of steps. */
const flatSteps = new Map<BuiltInAction, Schema<ReadOf<Fields>>>();
const COMMON_STEP = object(STEP_FIELDS, {
  beside: [IMPLEMENTATION],
  misplaced: (key) =>
    whyNoStepKey(key) ??
    (actionsWithKey(key).length > 0 ? "this step has its own keys in `implementation`" : null),
});

/** Common and own keys side by side, one schema a built-in action. */
function flatStep(type: BuiltInAction): Schema<ReadOf<Fields>> {
  const known = flatSteps.get(type);
  if (known !== undefined) return known;
  const made = object(
    { ...STEP_FIELDS, ...(ACTION_FIELDS[type] as Fields) },
    {
      beside: [IMPLEMENTATION],
      misplaced: (key) => whyNoStepKey(key) ?? belongsElsewhere(key, type),
    },
  );
  flatSteps.set(type, made);
  return made;
}

/** The schema for steps without a type: it suggests the keys of all actions. */
function typelessStep(): Schema<ReadOf<typeof STEP_FIELDS>> {
  return object<typeof STEP_FIELDS>(
    {
      ...Object.fromEntries(
        Object.values<Fields>(ACTION_FIELDS)
          .flatMap((fields) => Object.entries(fields))
          .map(([key, field]) => [key, { ...field, required: false }]),
      ),
      ...STEP_FIELDS,
    },
    { beside: [IMPLEMENTATION], misplaced: whyNoStepKey },
  );
}

function belongsElsewhere(key: string, type: string): string | null {
  const owners = actionsWithKey(key);
  return owners.length === 0
    ? null
    : `it belongs to \`type: ${owners.join(" or ")}\`, this step is \`${type}\``;
}

export const step: Schema<RawStep> = {
  expected: "a map of the step's keys",
  fits: (node) => node.kind === "map",
  read(node, path, context) {
    if (node.kind !== "map") return wrongType(step, node, path, context);
    const type = readType(node, path, context);
    const implementation = findEntry(node, IMPLEMENTATION);
    if (implementation !== undefined) return readSplitStep(node, type, implementation.value, path, context);
    if (type !== null && isBuiltInAction(type)) {
      const keys = flatStep(type).read(node, path, context) as StepKeys & {
        readonly [key: string]: Json;
      };
      const action = finishAction(toAction(type, keys), node, path, context);
      return { keys, action, node, path };
    }
    if (findEntry(node, "type") === undefined && findEntry(node, "kind") === undefined)
      return readTypelessStep(node, path, context);
    return readOpenStep(node, type, path, context);
  },
  json: stepJson,
};

/**
 * The type. Where it is missing or misspelt, the one that was probably meant, so that the other keys are judged too;
 * null where nothing is near.
 */
function readType(node: SourceMap, path: Path | null, context: ReadContext): string | null {
  const entry = findEntry(node, "type") ?? findEntry(node, "kind");
  if (entry === undefined) return impliedType(node, path, context);
  const { value } = entry;
  // A type that is not text is reported by its field.
  if (value.kind !== "scalar" || typeof value.value !== "string") return null;
  const type = value.value;
  if (isBuiltInAction(type) || context.customActions.has(type)) return type;
  const known = [...BUILT_IN_ACTIONS, ...context.customActions];
  const suggestion = context.findings.suggester.nearest(type, known);
  const message = `unknown type ${quote(type)}${didYouMean(suggestion)}`;
  const hint = `Types known here: ${known.join(", ")}.`;
  context.findings.error({
    code: "INVALID_VALUE",
    message,
    hint,
    at: value.at,
    path: childPath(path, entry.key),
    mending: rename(type, suggestion),
  });
  return suggestion;
}

/** What other programs call `exec`. */
const PROGRAM_WORDS = ["run", "script", "command"];

function impliedType(node: SourceMap, path: Path | null, context: ReadContext): string | null {
  if (findEntry(node, "exec") !== undefined) return "command";
  // The key's right name is reported where it is.
  if (PROGRAM_WORDS.some((word) => findEntry(node, word) !== undefined)) return null;
  const fitting = fittingAction(node);
  const hint =
    fitting === null
      ? `Add \`type\` (${BUILT_IN_ACTIONS.join(", ")}), or \`exec\` for a command.`
      : `Add \`type: ${fitting}\`.`;
  context.findings.error({
    code: "MISSING_KEY",
    message: "the key `type` is missing",
    hint,
    at: node.at,
    path,
  });
  return fitting;
}

/** The action that knows most of the step's keys. */
function fittingAction(node: SourceMap): BuiltInAction | null {
  const known = (type: BuiltInAction) =>
    node.entries.filter(({ key }) => Object.hasOwn(ACTION_FIELDS[type], key)).length;
  const best = BUILT_IN_ACTIONS.reduce((first, second) => (known(second) > known(first) ? second : first));
  return known(best) === 0 ? null : best;
}

function readSplitStep(
  node: SourceMap,
  type: string | null,
  own: SourceNode,
  path: Path | null,
  context: ReadContext,
): RawStep | undefined {
  const outer: SourceMap = { ...node, entries: node.entries.filter((entry) => entry.key !== IMPLEMENTATION) };
  const keys = COMMON_STEP.read(outer, path, context);
  const here = childPath(path, IMPLEMENTATION);
  if (keys === undefined || type === null) return undefined;
  if (isBuiltInAction(type)) {
    const values = object(ACTION_FIELDS[type] as Fields).read(own, here, context);
    if (values === undefined || own.kind !== "map") return undefined;
    const action = toAction(type, values as { readonly [key: string]: Json });
    return { keys, action: finishAction(action, own, here, context), node, path };
  }
  if (own.kind !== "map") return wrongType({ expected: "a map" }, own, here, context);
  return {
    keys,
    action: { ...(customValue.read(own, here, context) as { readonly [key: string]: Json }), type },
    node,
    path,
  };
}

/** A custom action may have any keys beside the common ones; a step of unknown type gets the benefit of the doubt. */
function readOpenStep(
  node: SourceMap,
  type: string | null,
  path: Path | null,
  context: ReadContext,
): RawStep | undefined {
  const own: { [key: string]: Json } = {};
  const schema = object(STEP_FIELDS, {
    misplaced: belongsOutside,
    rest(entry, here) {
      if (type === null) return;
      if (mayBeKey(entry, here, context))
        own[entry.key] = customValue.read(entry.value, here, context) ?? null;
    },
  });
  const keys = schema.read(node, path, context);
  return keys && { keys, action: { ...own, type: type ?? "noop" }, node, path };
}

/** None of its keys belongs to an action, or that would be its type; so any other is misspelt. */
function readTypelessStep(node: SourceMap, path: Path | null, context: ReadContext): RawStep | undefined {
  const keys = typelessStep().read(node, path, context);
  return keys && { keys, action: { type: "noop" }, node, path };
}

function toAction(
  type: BuiltInAction,
  values: { readonly [key: string]: Json | undefined },
): ActionDefinition {
  const own: { [key: string]: Json } = {};
  for (const key of Object.keys(ACTION_FIELDS[type])) {
    const value = values[key];
    if (value !== undefined) own[key] = value;
  }
  if (type === "http") own.method ??= DEFAULT_HTTP_METHOD;
  return { ...own, type };
}

/** What an action's keys say together. */
function finishAction(
  action: ActionDefinition,
  node: SourceMap,
  path: Path | null,
  context: ReadContext,
): ActionDefinition {
  const rules = ACTION_RULES[action.type as BuiltInAction];
  return rules === undefined ? action : rules.finish(action, node, path, context);
}

function stepJson(definitions: JsonDefinitions): JsonSchema {
  const variants: JsonSchema[] = BUILT_IN_ACTIONS.map((type) => builtInJson(type, definitions));
  const custom = object(STEP_FIELDS, { rest: () => {} }).json(definitions);
  const customType: JsonSchema = {
    type: "string",
    not: { enum: [...BUILT_IN_ACTIONS] },
  };
  variants.push(withType(custom, customType, true));
  return { anyOf: variants };
}

function builtInJson(type: BuiltInAction, definitions: JsonDefinitions): JsonSchema {
  const flat = flatStep(type).json(definitions);
  const needs = ACTION_RULES[type]?.needs ?? {};
  const own = { ...object(ACTION_FIELDS[type] as Fields).json(definitions), ...needs };
  const properties = {
    ...(flat.properties as JsonSchema),
    [IMPLEMENTATION]: { ...own, description: "Another place for the action's own keys." },
  };
  const { required = [], ...rest } = flat;
  const alternatives: JsonSchema[] = [{ required, ...needs }, { required: [IMPLEMENTATION] }];
  return {
    ...withType({ ...rest, properties }, { const: type }, type !== "command"),
    allOf: [{ anyOf: alternatives }],
  };
}

/** `type` or `kind` must say what the step is, unless it may be left out. */
function withType(schema: JsonSchema, type: JsonSchema, needed: boolean): JsonSchema {
  const properties = { ...(schema.properties as JsonSchema), type, kind: type };
  const either: Json = [{ required: ["type"] }, { required: ["kind"] }];
  return { ...schema, properties, ...(needed ? { anyOf: either } : {}) };
}
