import { z } from "zod";
import { DarumaError } from "../core/errors/errors.js";
import { type FieldError, fieldErrors, InvalidInput } from "../operations/invalid-input.js";
import type { Operation } from "../operations/operation.js";
import { API_PREFIX } from "./limits.js";

/** The parts of a request that fields come from. */
export interface RequestParts {
  readonly params: Fields;
  readonly query: Fields;
  readonly body: unknown;
  /** The value of the header Idempotency-Key, which sets the field `key`. */
  readonly key?: string | undefined;
}

export type Fields = { readonly [name: string]: unknown };

/** Reads the input of one operation from a request. Throws InvalidInput with every invalid field. */
export type InputReader = (parts: RequestParts) => Fields;

export function inputReader(operation: Operation): InputReader {
  // Strict, because a misspelt filter that is ignored would give the answer to another question.
  const schema = operation.input.strict();
  const fieldTypes = textTypes(operation.input);
  const pathFields = pathParameters(operation.rest.path);
  const queryFields = new Set(queryParameters(operation));
  const takesBody = hasBody(operation);
  const hint = `See ${operation.name} at ${API_PREFIX}/docs, or in ${API_PREFIX}/openapi.json.`;
  return ({ params, query, body, key }) => {
    const raw: { [name: string]: unknown } = Object.create(null);
    const errors: FieldError[] = [];
    if (takesBody) Object.assign(raw, underOwnNames(bodyFields(body), operation.rest.alsoCalled ?? {}));
    for (const name of [...pathFields, ...queryFields])
      if (Object.hasOwn(raw, name))
        errors.push(misplaced(name, pathFields.includes(name) ? "path" : "query"));
    for (const [name, value] of Object.entries(query)) {
      if (pathFields.includes(name)) errors.push(misplaced(name, "path"));
      // Unknown fields are refused by the schema, which lists the known ones.
      else if (takesBody && !queryFields.has(name) && Object.hasOwn(operation.input.shape, name))
        errors.push(misplaced(name, "body"));
      else raw[name] = fromText(value, fieldTypes.get(name));
    }
    if (key !== undefined && (raw.key ?? key) !== key)
      errors.push({ path: "key", message: "differs from the header Idempotency-Key" });
    if (key !== undefined) raw.key = key;
    for (const name of pathFields) raw[name] = fromText(params[name], fieldTypes.get(name));
    const parsed = schema.safeParse({ ...raw });
    if (parsed.success && errors.length === 0) return parsed.data;
    const wrong = fieldErrors(schema, parsed.error?.issues ?? [], raw);
    throw new InvalidInput([...errors, ...wrong], hint);
  };
}

export function pathParameters(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]!);
}

/** Names of the fields that belong in the query. */
export function queryParameters(operation: Operation): string[] {
  const { rest, input } = operation;
  const inPath = pathParameters(rest.path);
  return hasBody(operation)
    ? [...(rest.query ?? [])]
    : Object.keys(input.shape).filter((name) => !inPath.includes(name));
}

export function hasBody({ rest }: Operation): boolean {
  return rest.method === "POST" || rest.method === "PUT";
}

function bodyFields(body: unknown): Fields {
  if (body === undefined || body === null) return {};
  if (typeof body === "object" && !Array.isArray(body)) return body as Fields;
  throw new DarumaError("INVALID_INPUT", "the body must be a JSON object");
}

/** Renames fields from their other names. If both names are given, the other one remains and is refused. */
function underOwnNames(fields: Fields, alsoCalled: { readonly [name: string]: string }): Fields {
  return Object.fromEntries(
    Object.entries(fields).map(([name, value]) => {
      const own = Object.hasOwn(alsoCalled, name) ? alsoCalled[name]! : name;
      return [Object.hasOwn(fields, own) ? name : own, value];
    }),
  );
}

function misplaced(path: string, place: string): FieldError {
  return { path, message: `belongs in the ${place}` };
}

type TextType = "boolean" | "number";

/** The fields that are not plain text. In an address every value is text. */
function textTypes(input: z.ZodObject): ReadonlyMap<string, TextType> {
  const schema = z.toJSONSchema(input, { io: "input", unrepresentable: "any" });
  const types = new Map<string, TextType>();
  for (const [name, property] of Object.entries(schema.properties ?? {})) {
    const type = typeof property === "object" ? property.type : undefined;
    if (type === "boolean") types.set(name, "boolean");
    if (type === "number" || type === "integer") types.set(name, "number");
  }
  return types;
}

const TRUTHS: { readonly [text: string]: boolean } = { true: true, "1": true, false: false, "0": false };

/** Converts text to its type. Text that cannot be converted stays, and the schema refuses it. */
function fromText(value: unknown, type: TextType | undefined): unknown {
  if (typeof value !== "string") return value;
  if (type === "boolean") return Object.hasOwn(TRUTHS, value) ? TRUTHS[value] : value;
  // A pattern, because `Number` also accepts "", " 7 " and "0x7".
  if (type === "number") return /^-?\d+(\.\d+)?$/.test(value) ? Number(value) : `not a number: ${value}`;
  return value;
}
