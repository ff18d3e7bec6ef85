import type { z } from "zod";
import { DarumaError } from "../core/errors/errors.js";
import type { Json } from "../core/text/json.js";
import { isDeeperThan, MAX_JSON_LEVELS, MAX_WRAPPED_JSON_LEVELS } from "../core/text/to-json.js";
import { expectationAt, fieldsAt } from "./expectation.js";
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
