import { z } from "zod";
import { DarumaError } from "../core/errors/errors.js";
import { isDeeperThan, type Json, MAX_JSON_LEVELS, MAX_WRAPPED_JSON_LEVELS } from "../core/text/json.js";
import type { Operation } from "./operation.js";

export interface FieldError {
  /** `classifications.0.action` */
  readonly path: string;
  readonly message: string;
}

/** What was given does not fit the operation's input. */
export class InvalidInput extends DarumaError {
  constructor(
    readonly errors: readonly FieldError[],
    hint: string,
  ) {
    const told = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
    super("INVALID_INPUT", told.join("; "), { hint });
  }
}

/** Checks an operation's input from any interface. The hint says where that interface describes its fields. */
export function checkInput(
  { input }: Pick<Operation, "input">,
  given: unknown,
  hint: string,
): z.output<Operation["input"]> {
  // Code that reads it recurses, beginning with the schema.
  if (isDeeperThan(given as Json, MAX_WRAPPED_JSON_LEVELS))
    throw new InvalidInput(
      [{ path: "", message: `it is nested more than ${MAX_JSON_LEVELS} levels deep` }],
      hint,
    );
  const parsed = input.safeParse(given);
  if (parsed.success) return parsed.data;
  throw new InvalidInput(fieldErrors(input, parsed.error.issues, given), hint);
}

/** Says of every field what it takes, not what a parser met. */
export function fieldErrors(
  input: z.ZodType,
  issues: readonly z.core.$ZodIssue[],
  given: unknown,
): FieldError[] {
  return issues.flatMap((issue) => {
    const { path } = issue;
    if (issue.code !== "unrecognized_keys")
      return [{ path: textOf(path), message: messageOf(input, issue, given) }];
    const known = fieldsAt(input, path).join(", ");
    const message = known === "" ? "unknown field" : `unknown field; known fields are ${known}`;
    return issue.keys.map((key) => ({ path: textOf([...path, key]), message }));
  });
}

function messageOf(input: z.ZodType, issue: z.core.$ZodIssue, given: unknown): string {
  // What a text must look like is said where the rule is.
  const isTold = issue.code === "custom" || issue.code === "invalid_format";
  const expected = isTold ? null : expectationAt(input, issue.path);
  if (valueAt(given, issue.path) === undefined && issue.code !== "custom")
    return expected === null ? "is missing" : `is missing; it must be ${expected}`;
  return expected === null ? issue.message : `must be ${expected}`;
}

function valueAt(given: unknown, path: readonly PropertyKey[]): unknown {
  let value = given;
  for (const key of path) {
    if (value === null || typeof value !== "object" || !Object.hasOwn(value, key)) return undefined;
    value = (value as { readonly [key: PropertyKey]: unknown })[key];
  }
  return value;
}

function textOf(path: readonly PropertyKey[]): string {
  return path.map(String).join(".");
}

/** The part of JSON Schema that the inputs of operations are made of. */
interface Schema {
  readonly type?: string;
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly items?: Schema;
  readonly properties?: { readonly [name: string]: Schema };
  readonly additionalProperties?: Schema | boolean;
  readonly minimum?: number;
  readonly exclusiveMinimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
}

/** What a place of an input takes, as the rest of "it must be ..."; null where the schema does not say. */
export function expectationAt(input: z.ZodType, path: readonly PropertyKey[]): string | null {
  const whole = z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as Schema;
  const schema = schemaAt(whole, path);
  if (schema === null) return null;
  return takesAnything(schema) ? "any JSON value" : expectation(schema);
}

function takesAnything(schema: Schema): boolean {
  return Object.keys(schema).every((key) => key === "description");
}

/** The fields that there are at a place of an input. */
function fieldsAt(input: z.ZodType, path: readonly PropertyKey[]): string[] {
  const whole = z.toJSONSchema(input, { io: "input", unrepresentable: "any" }) as Schema;
  return Object.keys(schemaAt(whole, path)?.properties ?? {});
}

function schemaAt(schema: Schema, path: readonly PropertyKey[]): Schema | null {
  const [key, ...rest] = path;
  if (key === undefined) return schema;
  for (const each of [schema, ...(schema.anyOf ?? [])]) {
    const next = typeof key === "number" ? each.items : each.properties?.[String(key)];
    if (next !== undefined) return schemaAt(next, rest);
  }
  return null;
}

function expectation(schema: Schema): string | null {
  if (schema.anyOf !== undefined) return alternatives(schema.anyOf);
  if (schema.const !== undefined) return String(schema.const);
  if (schema.enum !== undefined) return `one of ${schema.enum.map(String).join(", ")}`;
  switch (schema.type) {
    case "boolean":
      return "true or false";
    case "integer":
      return `a whole number${range(schema)}`;
    case "number":
      return `a number${range(schema)}`;
    case "string":
      return `text${length(schema)}`;
    case "array":
      return listText(schema.items);
    case "object":
      return "an object";
    default:
      return null;
  }
}

/** A query string has only words: what it takes beside a list or a truth value is the same once more. */
function alternatives(schemas: readonly Schema[]): string {
  const hasMore = schemas.some(({ type }) => type === "array" || type === "boolean");
  const told = schemas
    .filter((schema) => !(hasMore && schema.type === "string"))
    .map(expectation)
    .filter((text) => text !== null);
  return [...new Set(told)].join(", or ");
}

function listText(items: Schema | undefined): string {
  if (items?.enum !== undefined) return `one or several of ${items.enum.map(String).join(", ")}`;
  const each = items === undefined ? null : expectation(items);
  return each === null ? "a list" : `a list, each ${each}`;
}

function range({ minimum, exclusiveMinimum, maximum }: Schema): string {
  const low = exclusiveMinimum === undefined ? minimum : exclusiveMinimum + 1;
  const from = low !== undefined && low > Number.MIN_SAFE_INTEGER ? low : null;
  const to = maximum !== undefined && maximum < Number.MAX_SAFE_INTEGER ? maximum : null;
  if (from !== null && to !== null) return ` from ${from} to ${to}`;
  if (from !== null) return `, ${from} or more`;
  return to === null ? "" : `, ${to} or less`;
}

function length({ minLength = 0, maxLength }: Schema): string {
  if (maxLength !== undefined && minLength > 0) return ` of ${minLength} to ${maxLength} characters`;
  if (maxLength !== undefined) return ` of at most ${maxLength} characters`;
  return minLength > 0 ? ` of at least ${minLength} characters` : "";
}
