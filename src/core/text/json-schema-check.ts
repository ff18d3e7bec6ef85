import type { Json } from "./json.js";
import { compilePattern, type LinearPattern, SchemaTooCostly, SchemaWork } from "./linear-pattern.js";

/** The place where a value does not match, as a path such as `$.items[2].name`, and the reason. */
export interface Mismatch {
  readonly path: string;
  readonly message: string;
}

type JsonObject = { readonly [key: string]: Json };
interface Report {
  (path: string, message: string): void;
  /** What the check has cost so far, wherever in the value. */
  readonly work: SchemaWork;
}
type Keyword = (expected: Json, value: Json, path: string, schema: JsonObject, report: Report) => void;

/** Nobody reads more, and a list of a million wrong items must not become a million messages. */
const MAX_MISMATCHES = 100;
const MAX_DEPTH = 100;
const MAX_SHOWN_CHARS = 60;
const TYPES = ["null", "boolean", "object", "array", "number", "integer", "string"];
/** Keywords that say nothing about a value. */
const ANNOTATIONS = new Set([
  "$schema",
  "$id",
  "$comment",
  "title",
  "description",
  "default",
  "examples",
  "deprecated",
  "readOnly",
  "writeOnly",
]);

const KEYWORDS: { readonly [keyword: string]: Keyword } = {
  type(expected, value, path, _, report) {
    const types = asList(expected).map(String);
    if (!types.some((type) => isOfType(value, type)))
      report(path, `must be ${types.join(" or ")}, is ${typeOf(value)}`);
  },
  enum(expected, value, path, _, report) {
    if (!asList(expected).some((item) => equalJson(item, value)))
      report(path, `must be one of ${show(expected)}`);
  },
  const(expected, value, path, _, report) {
    if (!equalJson(expected, value)) report(path, `must be ${show(expected)}`);
  },
  minimum: bound(asNumber, (value, limit) => value >= limit, "must be at least"),
  maximum: bound(asNumber, (value, limit) => value <= limit, "must be at most"),
  minLength: bound(lengthOfText, (value, limit) => value >= limit, "must have a length of at least"),
  maxLength: bound(lengthOfText, (value, limit) => value <= limit, "must have a length of at most"),
  minItems: bound(lengthOfList, (value, limit) => value >= limit, "must have a number of items of at least"),
  maxItems: bound(lengthOfList, (value, limit) => value <= limit, "must have a number of items of at most"),
  pattern(expected, value, path, _, report) {
    if (typeof value !== "string") return;
    const fits = patternOf(String(expected))?.test(value, report.work) ?? false;
    if (!fits) report(path, `must match ${show(expected)}`);
  },
  required(expected, value, path, _, report) {
    if (!isObject(value)) return;
    for (const name of asList(expected))
      if (!Object.hasOwn(value, String(name))) report(path, `must have ${show(name)}`);
  },
  properties(expected, value, path, _, report) {
    if (!isObject(value) || !isObject(expected)) return;
    for (const [name, schema] of Object.entries(expected)) {
      if (Object.hasOwn(value, name)) check(schema, value[name]!, member(path, name), report);
    }
  },
  additionalProperties(expected, value, path, schema, report) {
    if (!isObject(value)) return;
    const known = isObject(schema.properties) ? schema.properties : {};
    for (const [name, item] of Object.entries(value)) {
      if (Object.hasOwn(known, name)) continue;
      if (expected === false) report(member(path, name), "is not allowed");
      else check(expected, item, member(path, name), report);
    }
  },
  items(expected, value, path, _, report) {
    if (!Array.isArray(value)) return;
    for (const [index, item] of value.entries()) check(expected, item, `${path}[${index}]`, report);
  },
  allOf(expected, value, path, _, report) {
    for (const schema of asList(expected)) check(schema, value, path, report);
  },
  anyOf(expected, value, path, _, report) {
    if (!asList(expected).some((schema) => fits(schema, value, report.work)))
      report(path, "must fit one of the schemas of anyOf");
  },
  oneOf(expected, value, path, _, report) {
    const count = asList(expected).filter((schema) => fits(schema, value, report.work)).length;
    if (count !== 1) report(path, `must fit exactly one of the schemas of oneOf, fits ${count}`);
  },
};

/** The mismatches of a value with a schema; empty if it matches. Schemas are checked when the file is loaded. */
export function checkJson(schema: Json, value: Json): Mismatch[] {
  const mismatches: Mismatch[] = [];
  const report = reporter(new SchemaWork(), (path, message) => {
    if (mismatches.length < MAX_MISMATCHES) mismatches.push({ path, message });
  });
  try {
    check(schema, value, "$", report);
  } catch (error) {
    if (!(error instanceof SchemaTooCostly)) throw error;
    return [{ path: "$", message: TOO_COSTLY }];
  }
  return mismatches;
}

const TOO_COSTLY =
  "is too much for its schema to be checked in time; write less, give texts a maxLength, or the schema fewer keywords and simpler patterns";

/** A keyword, a member or an item takes about as long as ten characters of a pattern. */
const KEYWORD_WORK = 10;

/** Beside the keyword itself: how much it goes through. */
function lengthOf(keyword: string, expected: Json, value: Json): number {
  switch (keyword) {
    case "minLength":
    case "maxLength":
      return typeof value === "string" ? value.length : 0;
    case "type":
    case "enum":
    case "required":
      return asList(expected).length;
    case "properties":
      return isObject(expected) ? KEYWORD_WORK * Object.keys(expected).length : 0;
    case "additionalProperties":
      return isObject(value) ? KEYWORD_WORK * Object.keys(value).length : 0;
    case "items":
      return Array.isArray(value) ? KEYWORD_WORK * value.length : 0;
    default:
      return 0;
  }
}

function reporter(work: SchemaWork, report: (path: string, message: string) => void): Report {
  return Object.assign(report, { work });
}

function check(schema: Json, value: Json, path: string, report: Report): void {
  if (schema === false) report(path, "is not allowed");
  if (!isObject(schema)) return;
  for (const [keyword, expected] of Object.entries(schema)) {
    report.work.spend(KEYWORD_WORK + lengthOf(keyword, expected, value));
    if (Object.hasOwn(KEYWORDS, keyword)) KEYWORDS[keyword]!(expected, value, path, schema, report);
  }
}

function fits(schema: Json, value: Json, work: SchemaWork): boolean {
  let isFit = true;
  const report = reporter(work, () => {
    isFit = false;
  });
  check(schema, value, "$", report);
  return isFit;
}

/** What in the schema could not be honoured: unknown keywords, and known ones with a value they cannot have. */
export function unsupportedKeywords(schema: Json): Mismatch[] {
  const problems: Mismatch[] = [];
  inspect(schema, "$", 0, (path, message) => problems.push({ path, message }));
  return problems;
}

function inspect(
  schema: Json,
  path: string,
  depth: number,
  report: (path: string, message: string) => void,
): void {
  if (typeof schema === "boolean") return;
  if (!isObject(schema) || depth > MAX_DEPTH) {
    report(
      path,
      isObject(schema)
        ? `is nested more than ${MAX_DEPTH} deep`
        : "must be a schema: an object, true or false",
    );
    return;
  }
  for (const [keyword, expected] of Object.entries(schema)) {
    const at = member(path, keyword);
    if (!Object.hasOwn(KEYWORDS, keyword)) {
      if (!ANNOTATIONS.has(keyword)) report(at, `the keyword ${keyword} is not supported`);
      continue;
    }
    const problem = problemOf(keyword, expected);
    if (problem !== null) report(at, problem);
    else
      for (const [name, inner] of innerSchemas(keyword, expected))
        inspect(inner, `${at}${name}`, depth + 1, report);
  }
}

function problemOf(keyword: string, expected: Json): string | null {
  switch (keyword) {
    case "type":
      return asList(expected).every((type) => TYPES.includes(String(type))) && asList(expected).length > 0
        ? null
        : `must be one of ${TYPES.join(", ")}`;
    case "minimum":
    case "maximum":
      return typeof expected === "number" ? null : "must be a number";
    case "minLength":
    case "maxLength":
    case "minItems":
    case "maxItems":
      return typeof expected === "number" && Number.isInteger(expected) && expected >= 0
        ? null
        : "must be a whole number, 0 or more";
    case "required":
      return Array.isArray(expected) && expected.every((name) => typeof name === "string")
        ? null
        : "must be a list of names";
    case "properties":
      return isObject(expected) ? null : "must be a map of schemas";
    case "enum":
      return Array.isArray(expected) ? null : "must be a list";
    case "allOf":
    case "anyOf":
    case "oneOf":
      return Array.isArray(expected) && expected.length > 0
        ? null
        : "must be a list of schemas, at least one";
    case "pattern":
      return problemOfPattern(expected);
    default:
      return null;
  }
}

function problemOfPattern(expected: Json): string | null {
  if (typeof expected !== "string") return "must be a text";
  const compiled = compilePattern(expected);
  return "refused" in compiled ? compiled.refused : null;
}

function innerSchemas(keyword: string, expected: Json): [string, Json][] {
  if (keyword === "items" || keyword === "additionalProperties") return [["", expected]];
  if (keyword === "properties" && isObject(expected))
    return Object.entries(expected).map(([name, schema]) => [member("", name), schema]);
  if (["allOf", "anyOf", "oneOf"].includes(keyword))
    return asList(expected).map((schema, index) => [`[${index}]`, schema]);
  return [];
}

function bound(
  measure: (value: Json) => number | null,
  isWithin: (value: number, limit: number) => boolean,
  words: string,
): Keyword {
  return (limit, value, path, _, report) => {
    const measured = measure(value);
    if (measured !== null && !isWithin(measured, Number(limit)))
      report(path, `${words} ${limit}, is ${measured}`);
  };
}

/** Compiled once; a schema's patterns meet every item of every output. */
const patterns = new Map<string, LinearPattern | null>();
const MAX_KEPT_PATTERNS = 1_000;

function patternOf(source: string): LinearPattern | null {
  const kept = patterns.get(source);
  if (kept !== undefined) return kept;
  const compiled = compilePattern(source);
  const pattern = "refused" in compiled ? null : compiled;
  if (patterns.size >= MAX_KEPT_PATTERNS) patterns.clear();
  patterns.set(source, pattern);
  return pattern;
}

function asNumber(value: Json): number | null {
  return typeof value === "number" ? value : null;
}

/** The length in code points, as JSON Schema defines it. */
function lengthOfText(value: Json): number | null {
  if (typeof value !== "string") return null;
  let length = 0;
  for (const _ of value) length += 1;
  return length;
}

function lengthOfList(value: Json): number | null {
  return Array.isArray(value) ? value.length : null;
}

function asList(json: Json): readonly Json[] {
  return Array.isArray(json) ? json : [json];
}

function isObject(json: Json | undefined): json is JsonObject {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

function typeOf(value: Json): string {
  if (value === null) return "null";
  return Array.isArray(value) ? "array" : typeof value;
}

function isOfType(value: Json, type: string): boolean {
  return type === "integer" ? Number.isInteger(value) : typeOf(value) === type;
}

export function equalJson(a: Json, b: Json): boolean {
  if (a === b) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((item: Json, index) => equalJson(item, b[index]!));
  if (!isObject(a) || !isObject(b)) return false;
  const names = Object.keys(a);
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && equalJson(a[name]!, b[name]!))
  );
}

function member(path: string, name: string): string {
  return /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`;
}

function show(json: Json): string {
  const text = JSON.stringify(json);
  return text.length <= MAX_SHOWN_CHARS ? text : `${text.slice(0, MAX_SHOWN_CHARS)}...`;
}
