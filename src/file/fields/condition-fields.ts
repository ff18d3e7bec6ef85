import type { ComparisonOperator, Condition, Operand } from "../../core/model/definition.js";
import type { Json } from "../../core/text/json.js";
import { childPath } from "../read/path.js";
import {
  type LocatedText,
  listOf,
  locatedText,
  mapped,
  named,
  object,
  type ReadContext,
  type Schema,
  union,
  wrongType,
} from "../read/schema.js";
import { json, number, oneOf, text } from "../read/schema-scalars.js";
import { findEntry, type SourceMap } from "../read/source-tree.js";
import { didYouMean, quote } from "../read/suggest.js";
import { expression } from "./code-fields.js";

const FIELD_ROOTS = ["state", "outputs", "error", "inputs"] as const;
const FIELD_PATH = /^(?:state|outputs|error|inputs)\.[^.\s[\]]+(?:\.[^.\s[\]]+|\[\d{1,10}\])*$/;
const LOOKS_LIKE_FIELD = /^(?:state|outputs|error|inputs)\./;
const FIELD_RULE =
  "A field starts with state., outputs., error. or inputs., followed by names and indexes: outputs.build.files[0].name.";
const OPERATORS = ["==", "!=", "<", "<=", ">", ">="] as const satisfies readonly ComparisonOperator[];
const MAX_PATH_CHARS = 1_000;
const MAX_ARRAY_LENGTH = 1_000_000_000;

export interface ConditionField extends LocatedText {
  /** The condition is about whether it is there. */
  readonly asked?: boolean;
}

/** A condition with the fields it reads, whose steps and inputs are looked up once all are known. */
export interface ReadCondition {
  readonly condition: Condition;
  readonly fields: readonly ConditionField[];
  /** The JavaScript in it. */
  readonly codes: readonly string[];
}

type FieldInput = string | { readonly type: "field"; readonly path: string };
type OperandInput =
  | string
  | number
  | boolean
  | null
  | { readonly type: "field"; readonly path: string }
  | { readonly type: "literal"; readonly value: Json };

/** A condition as it may be written. By hand: conditions hold conditions. */
export type ConditionInput =
  | { readonly type: "exists"; readonly field: FieldInput }
  | {
      readonly type: "comparison";
      readonly operator: ComparisonOperator;
      readonly left: OperandInput;
      readonly right: OperandInput;
    }
  | { readonly type: "in_set"; readonly field: FieldInput; readonly values: readonly Json[] }
  | {
      readonly type: "array_length";
      readonly field: FieldInput;
      readonly operator: ComparisonOperator;
      readonly value: number;
    }
  | { readonly type: "and" | "or"; readonly conditions: readonly (ConditionInput | string)[] }
  | { readonly type: "not"; readonly condition: ConditionInput | string };

/** Replaces a condition with a refused field. The load has failed by then. */
const NEVER: Condition = { type: "or", conditions: [] };

const pathText = text({ expected: "a field's path", maxChars: MAX_PATH_CHARS });

const fieldPath: Schema<string, string> = {
  ...pathText,
  read(node, place, context) {
    const path = pathText.read(node, place, context);
    if (path === undefined || FIELD_PATH.test(path)) return path;
    const root = path.split(".", 1)[0]!;
    const nearest = context.findings.suggester.nearest(root, FIELD_ROOTS);
    const known = (FIELD_ROOTS as readonly string[]).includes(root);
    const suggestion = known || nearest === null ? null : nearest + path.slice(root.length);
    const message = `${quote(path)} is not a field${didYouMean(suggestion)}`;
    context.findings.error({ code: "INVALID_VALUE", message, hint: FIELD_RULE, at: node.at, path: place });
    return undefined;
  },
  json: () => ({ type: "string", pattern: FIELD_PATH.source, maxLength: MAX_PATH_CHARS }),
};

const fieldMap = object({
  type: { schema: oneOf(["field"]), doc: "It is a field.", required: true },
  path: {
    schema: locatedText(fieldPath),
    doc: "Where the value is, such as `outputs.build.version`.",
    required: true,
  },
});
const field = named(
  "field",
  union(
    locatedText(fieldPath),
    mapped(fieldMap, (given) => given.path),
  ),
);

interface OperandDraft {
  readonly operand: Operand;
  readonly fields: readonly LocatedText[];
}

const literalMap = object({
  type: { schema: oneOf(["literal"]), doc: "It is a value.", required: true },
  value: { schema: json(), doc: "The value.", required: true },
});

/** A field or a literal. Plain text is a field where it begins like one, else it is that text. */
const operand: Schema<OperandDraft> = named("operand", {
  expected: "a field or a value",
  fits: (node) => node.kind !== "list",
  read(node, path, context) {
    if (node.kind === "scalar") {
      if (typeof node.value === "string" && LOOKS_LIKE_FIELD.test(node.value))
        return toOperand(locatedText(fieldPath).read(node, path, context));
      return { operand: { type: "literal", value: json().read(node, path, context) ?? null }, fields: [] };
    }
    if (node.kind === "list") {
      const message = "expected a field or a value, found a list";
      const hint = "Write { type: literal, value: [...] } for a list.";
      context.findings.error({ code: "WRONG_TYPE", message, hint, at: node.at, path });
      return undefined;
    }
    const type = findEntry(node, "type")?.value;
    if (type?.kind === "scalar" && type.value === "literal") {
      const value: Json = literalMap.read(node, path, context)?.value ?? null;
      return { operand: { type: "literal", value }, fields: [] };
    }
    return toOperand(fieldMap.read(node, path, context)?.path);
  },
  json: (definitions) => ({
    anyOf: [
      { type: ["string", "number", "boolean", "null"] },
      fieldMap.json(definitions),
      literalMap.json(definitions),
    ],
  }),
});

function toOperand(path: LocatedText | undefined): OperandDraft | undefined {
  return path && { operand: { type: "field", path: path.value }, fields: [path] };
}

const code = mapped(
  expression(),
  (text): ReadCondition => ({
    condition: { type: "expression", code: text },
    fields: [],
    codes: [text],
  }),
);

/** `structured` holds conditions itself, so it can only be named from within functions. */
const nested: Schema<ReadCondition> = {
  expected: "a condition (a map with `type`, or JavaScript)",
  fits: (node) => code.fits(node) || node.kind === "map",
  read: (node, path, context) => when.read(node, path, context),
  json: (definitions) => when.json(definitions),
};

const typeOf = <const W extends string>(word: W) => ({
  schema: oneOf([word]),
  doc: "The kind of condition.",
  required: true,
});
const fieldKey = { schema: field, doc: "The field to look at.", required: true } as const;
const operatorKey = { schema: oneOf(OPERATORS), doc: "How to compare.", required: true } as const;
const operandKey = { schema: operand, doc: "A field or a value.", required: true } as const;
const conditionsKey = {
  schema: listOf(nested, { items: "conditions", notEmpty: true }),
  doc: "The conditions.",
  required: true,
} as const;

const onField = (path: ConditionField | undefined, make: (path: string) => Condition): ReadCondition => ({
  condition: path === undefined ? NEVER : make(path.value),
  fields: path === undefined ? [] : [path],
  codes: [],
});

const group = (type: "and" | "or", parts: readonly ReadCondition[] = []): ReadCondition => ({
  condition: { type, conditions: parts.map((part) => part.condition) },
  fields: parts.flatMap((part) => part.fields),
  codes: parts.flatMap((part) => part.codes),
});

const comparisonMap = object({
  type: typeOf("comparison"),
  operator: operatorKey,
  left: operandKey,
  right: operandKey,
});

const comparison: Schema<ReadCondition> = {
  ...comparisonMap,
  read(node, path, context) {
    const given = comparisonMap.read(node, path, context);
    if (given?.operator === undefined || given.left === undefined || given.right === undefined)
      return undefined;
    const { operator, left, right } = given;
    if (left.operand.type === "literal" && right.operand.type === "literal") {
      const message = "the comparison has no field, so its result never changes";
      context.findings.error({ code: "INVALID_VALUE", message, hint: FIELD_RULE, at: node.at, path });
    }
    return {
      condition: { type: "comparison", operator, left: left.operand, right: right.operand },
      fields: [...left.fields, ...right.fields],
      codes: [],
    };
  },
};

/** One reader a type. */
const CONDITIONS: ReadonlyMap<string, Schema<ReadCondition>> = new Map([
  [
    "exists",
    mapped(object({ type: typeOf("exists"), field: fieldKey }), (given) =>
      onField(given.field && { ...given.field, asked: true }, (path) => ({ type: "exists", field: path })),
    ),
  ],
  ["comparison", comparison],
  [
    "in_set",
    mapped(
      object({
        type: typeOf("in_set"),
        field: fieldKey,
        values: {
          schema: listOf(json(), { items: "values", notEmpty: true }),
          doc: "The values of which the field must have one.",
          required: true,
        },
      }),
      (given) =>
        onField(given.field, (path) => ({ type: "in_set", field: path, values: given.values ?? [] })),
    ),
  ],
  [
    "array_length",
    mapped(
      object({
        type: typeOf("array_length"),
        field: fieldKey,
        operator: operatorKey,
        value: {
          schema: number({ min: 0, max: MAX_ARRAY_LENGTH, whole: true }),
          doc: "The length to compare with.",
          required: true,
        },
      }),
      ({ field: path, operator = "==", value = 0 }) =>
        onField(path, (at) => ({ type: "array_length", field: at, operator, value })),
    ),
  ],
  [
    "and",
    mapped(object({ type: typeOf("and"), conditions: conditionsKey }), (given) =>
      group("and", given.conditions),
    ),
  ],
  [
    "or",
    mapped(object({ type: typeOf("or"), conditions: conditionsKey }), (given) =>
      group("or", given.conditions),
    ),
  ],
  [
    "not",
    mapped(
      object({
        type: typeOf("not"),
        condition: { schema: nested, doc: "The condition that must not hold.", required: true },
      }),
      ({ condition: part }) => ({
        condition: { type: "not", condition: part?.condition ?? NEVER },
        fields: part?.fields ?? [],
        codes: part?.codes ?? [],
      }),
    ),
  ],
]);

const structured: Schema<ReadCondition, ConditionInput> = named("condition", {
  expected: "a condition (a map with `type`)",
  fits: (node) => node.kind === "map",
  read(node, path, context) {
    if (node.kind !== "map") return wrongType(structured, node, path, context);
    const reader = readerFor(node, path, context);
    return reader?.read(node, path, context);
  },
  json: (definitions) => ({ anyOf: [...CONDITIONS.values()].map((schema) => schema.json(definitions)) }),
});

function readerFor(
  node: SourceMap,
  path: Parameters<typeof childPath>[0],
  context: ReadContext,
): Schema<ReadCondition> | undefined {
  const type = findEntry(node, "type");
  const words = [...CONDITIONS.keys()];
  if (type === undefined) {
    const message = "the key `type` is missing";
    const hint = `Add \`type\`: one of ${words.join(", ")}.`;
    return context.findings.error({ code: "MISSING_KEY", message, hint, at: node.at, path });
  }
  const word = oneOf(words).read(type.value, childPath(path, "type"), context);
  return word === undefined ? undefined : CONDITIONS.get(word);
}

/** A structured condition, or text: an expression for the sandbox. */
export const when: Schema<ReadCondition, ConditionInput | string> = union(code, structured);
