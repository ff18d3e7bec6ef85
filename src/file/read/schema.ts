import type { Json } from "../../core/text/json.js";
import { type Mending, rename } from "./fix.js";
import { objectJson } from "./object-json.js";
import { childPath, type Path } from "./path.js";
import type { NameFinder, TextWithNames } from "./placed-text.js";
import type { Findings, SyntaxProblem } from "./problem.js";
import {
  describeNode,
  type SourceEntry,
  type SourceMap,
  type SourceNode,
  type SourceScalar,
} from "./source-tree.js";
import { didYouMean, quote } from "./suggest.js";

/** A map with more is described elsewhere. */
const MAX_NAMED_KEYS = 8;

/**
 * A schema reads a value out of the source tree, reports what is wrong with it at its place, and describes itself as
 * JSON Schema: one source for messages, for editors and, by `W`, for the builder's types.
 */
export interface Schema<out T, out W = unknown> {
  /** What a message calls such a value: "a string", "a list of strings". */
  readonly expected: string;
  /** Whether the value has this schema's shape, so that a union can pick its branch before it complains. */
  fits(node: SourceNode): boolean;
  /** The value, or undefined once a problem was reported. */
  read(node: SourceNode, path: Path | null, context: ReadContext): T | undefined;
  json(definitions: JsonDefinitions): JsonSchema;
  /** What may be written for it, such as `"30s"` for a duration. For types alone: it is never there. */
  readonly written?: W;
}

export type Written<S> = S extends Schema<unknown, infer W> ? W : never;

export interface ReadContext {
  readonly findings: Findings;
  readonly checkExpression: (code: string) => SyntaxProblem | null;
  readonly checkTemplate: (template: string) => SyntaxProblem | null;
  /** A test of names that takes time in proportion to them, whatever the pattern. */
  readonly compilePattern: (pattern: string) => ((name: string) => boolean) | SyntaxProblem;
  readonly customActions: ReadonlySet<string>;
  /** Names of the breakers of the settings. */
  readonly sharedBreakers: readonly string[];
  /** Names of the channels of the settings; missing: nobody here knows them. */
  readonly channelNames?: readonly string[];
  /** Null if names in expressions and templates are not checked. */
  readonly findNames: NameFinder | null;
  /** The expressions and templates that were read. */
  readonly texts: TextWithNames[];
}

export type JsonSchema = { [key: string]: Json };
/** `$defs`, filled while schemas describe themselves. */
export type JsonDefinitions = Map<string, JsonSchema>;

export interface Field<out T, out W = unknown> {
  readonly schema: Schema<T, W>;
  readonly doc: string;
  readonly required?: boolean;
  /** Other spellings that are read as this key. */
  readonly aliases?: readonly string[];
  /** For documentation. The code that uses the value applies the same constant. */
  readonly default?: Json;
}

export type Fields = { readonly [key: string]: Field<unknown> };
export type ReadOf<F extends Fields> = {
  readonly [K in keyof F]: F[K] extends Field<infer T> ? T | undefined : never;
};

/** A map with these keys as a program may write it: by their own names, not by their other spellings. */
export type WrittenFields<F extends Fields> = {
  readonly [K in keyof F as F[K] extends Required ? K : never]: Written<F[K]["schema"]>;
} & {
  readonly [K in keyof F as F[K] extends Required ? never : K]?: Written<F[K]["schema"]> | undefined;
};
type Required = { readonly required: true };

export interface UnreadKeys {
  readonly why: ReadonlyMap<string, string>;
  /** Whether they are such keys in this map; without it always. */
  readonly within?: (map: SourceMap) => boolean;
}

export interface ObjectOptions {
  /** Keys that are read before these, and are as good: hints name them too. */
  readonly beside?: readonly string[];
  /** What keys are called here that other programs call so. */
  readonly renamed?: ReadonlyMap<string, string>;
  /** Keys that are taken and change nothing, with the reason for the warning. */
  readonly unread?: UnreadKeys;
  /** Why a known key does not belong just here. */
  readonly misplaced?: (key: string) => string | null;
  /** Takes the entries that no field names; without it they are unknown keys. */
  readonly rest?: (entry: SourceEntry, path: Path, context: ReadContext) => void;
}

/** `sample`: what to write, where that says more than what is expected. */
export function wrongType(
  schema: { expected: string; sample?: string },
  node: SourceNode,
  path: Path | null,
  context: ReadContext,
): undefined {
  const message = `expected ${schema.expected}, found ${describeNode(node)}`;
  const empty = node.kind === "scalar" && node.value === null;
  const hint = empty
    ? "Give a value, or leave the key out."
    : `Write ${schema.sample ?? schema.expected} here.`;
  context.findings.error({ code: "WRONG_TYPE", message, hint, at: node.at, path });
  return undefined;
}

export function object<const F extends Fields>(
  fields: F,
  options: ObjectOptions = {},
): Schema<ReadOf<F>, WrittenFields<F>> {
  const fieldOf = new Map<string, string>();
  for (const [name, field] of Object.entries(fields)) {
    for (const spelling of [name, ...(field.aliases ?? [])]) fieldOf.set(spelling, name);
  }
  const schema: Schema<ReadOf<F>, WrittenFields<F>> = {
    expected: "a map",
    fits: (node) => node.kind === "map",
    read(node, path, context) {
      if (node.kind !== "map")
        return wrongType({ ...schema, sample: mapOfKeys(fields) }, node, path, context);
      reportRepeatedKeys(node, path, context);
      const found = new Map<string, SourceEntry>();
      for (const entry of node.entries) {
        const name = fieldOf.get(entry.key);
        if (name === undefined) takeOther(entry, node, path, context, fieldOf.keys(), options);
        else if (found.has(name)) reportSecondSpelling(entry, found.get(name)!, path, context);
        else found.set(name, entry);
      }
      return readFields(fields, found, node, path, context);
    },
    json: (definitions) => objectJson(fields, options, definitions),
  };
  return schema;
}

function mapOfKeys(fields: Fields): string {
  const names = Object.keys(fields).map(quote);
  if (names.length > MAX_NAMED_KEYS) return "a map";
  return names.length === 1 ? `a map with ${names[0]}` : `a map with some of ${names.join(", ")}`;
}

function readFields<F extends Fields>(
  fields: F,
  found: ReadonlyMap<string, SourceEntry>,
  node: SourceMap,
  path: Path | null,
  context: ReadContext,
): ReadOf<F> {
  const values: { [key: string]: unknown } = {};
  for (const name of Object.keys(fields)) {
    const field = fields[name]!;
    const entry = found.get(name);
    if (entry !== undefined)
      values[name] = field.schema.read(entry.value, childPath(path, entry.key), context);
    else if (field.required) {
      const message = `the key ${quote(name)} is missing`;
      context.findings.error({
        code: "MISSING_KEY",
        message,
        hint: `Add \`${name}\`: ${field.schema.expected}.`,
        at: node.at,
        path,
      });
    }
  }
  return values as ReadOf<F>;
}

function takeOther(
  entry: SourceEntry,
  map: SourceMap,
  parent: Path | null,
  context: ReadContext,
  known: Iterable<string>,
  options: ObjectOptions,
): undefined {
  const path = childPath(parent, entry.key);
  const report = (message: string, hint: string, mending?: Mending) =>
    context.findings.error({ code: "UNKNOWN_KEY", message, hint, at: entry.keyAt, path, mending });
  const name = quote(entry.key);
  const unread = options.unread?.why.get(entry.key);
  if (unread !== undefined && options.unread?.within?.(map) !== false) {
    const message = `${name} has no effect: ${unread}`;
    context.findings.warn({ code: "NO_EFFECT", message, hint: "Remove it.", at: entry.keyAt, path });
    return;
  }
  const misplaced = options.misplaced?.(entry.key) ?? null;
  if (misplaced !== null) return report(`unknown key ${name} here: ${misplaced}`, "Move or remove the key.");
  if (options.rest !== undefined) {
    options.rest(entry, path, context);
    return;
  }
  const names = [...known, ...(options.beside ?? [])];
  const suggestion = options.renamed?.get(entry.key) ?? context.findings.suggester.nearest(entry.key, names);
  const hint =
    suggestion === null ? `Keys allowed here: ${names.join(", ")}.` : `Rename it to \`${suggestion}\`.`;
  report(`unknown key ${name}${didYouMean(suggestion)}`, hint, rename(entry.key, suggestion));
}

function reportSecondSpelling(
  entry: SourceEntry,
  first: SourceEntry,
  path: Path | null,
  context: ReadContext,
): void {
  const message = `${quote(entry.key)} and ${quote(first.key)} are the same key`;
  context.findings.error({
    code: "INVALID_VALUE",
    message,
    hint: "Keep one of the two.",
    at: entry.keyAt,
    path: childPath(path, entry.key),
  });
}

export function reportRepeatedKeys(node: SourceMap, path: Path | null, context: ReadContext): void {
  for (const { key, at } of node.repeated) {
    const message = `the key ${quote(key)} appears twice in this map`;
    context.findings.error({
      code: "YAML_SYNTAX",
      message,
      hint: "Remove one of the two.",
      at,
      path: childPath(path, key),
    });
  }
}

export interface MapOptions {
  readonly keyPattern: RegExp;
  /** What a key must look like, for the message. */
  readonly keyRule: string;
}

/** A map whose keys the user chooses. */
export function mapOf<T, W>(
  value: Schema<T, W>,
  options: MapOptions,
): Schema<ReadonlyMap<string, T>, { readonly [name: string]: W }> {
  const schema: Schema<ReadonlyMap<string, T>, { readonly [name: string]: W }> = {
    expected: "a map",
    fits: (node) => node.kind === "map",
    read(node, path, context) {
      if (node.kind !== "map") return wrongType(schema, node, path, context);
      reportRepeatedKeys(node, path, context);
      const values = new Map<string, T>();
      for (const entry of node.entries) {
        const here = childPath(path, entry.key);
        if (entry.key === "__proto__" || !options.keyPattern.test(entry.key)) {
          const message = `${quote(entry.key)} is not allowed as a name`;
          context.findings.error({
            code: "INVALID_VALUE",
            message,
            hint: options.keyRule,
            at: entry.keyAt,
            path: here,
          });
        }
        const read = value.read(entry.value, here, context);
        if (read !== undefined) values.set(entry.key, read);
      }
      return values;
    },
    json: (definitions) => ({
      type: "object",
      propertyNames: { pattern: options.keyPattern.source },
      additionalProperties: value.json(definitions),
    }),
  };
  return schema;
}

export function listOf<T, W>(
  item: Schema<T, W>,
  options: { items: string; notEmpty?: boolean },
): Schema<readonly T[], readonly W[]> {
  const schema: Schema<readonly T[], readonly W[]> = {
    expected: `a list of ${options.items}`,
    fits: (node) => node.kind === "list",
    read(node, path, context) {
      if (node.kind !== "list") return wrongType(schema, node, path, context);
      if (options.notEmpty && node.items.length === 0) {
        context.findings.error({
          code: "INVALID_VALUE",
          message: "the list is empty",
          hint: `Write ${options.items} in it, or leave the key out.`,
          at: node.at,
          path,
        });
        return undefined;
      }
      const values: T[] = [];
      node.items.forEach((part, index) => {
        const read = item.read(part, childPath(path, index), context);
        if (read !== undefined) values.push(read);
      });
      return values;
    },
    json: (definitions) => ({
      type: "array",
      items: item.json(definitions),
      ...(options.notEmpty ? { minItems: 1 } : {}),
    }),
  };
  return schema;
}

/** The first schema whose shape fits reads the value, so that its messages are about what was meant. */
export function union<T, W, U = T, V = W>(
  ...choices: readonly [Schema<T, W>, Schema<U, V>] | readonly [Schema<T, W>]
): Schema<T | U, W | V> {
  const schema: Schema<T | U, W | V> = {
    expected: choices.map((choice) => choice.expected).join(" or "),
    fits: (node) => choices.some((choice) => choice.fits(node)),
    read(node, path, context) {
      const choice = choices.find((candidate) => candidate.fits(node));
      return choice === undefined ? wrongType(schema, node, path, context) : choice.read(node, path, context);
    },
    json: (definitions) => ({ anyOf: choices.map((choice) => choice.json(definitions)) }),
  };
  return schema;
}

export function mapped<T, U, W>(schema: Schema<T, W>, convert: (value: T) => U): Schema<U, W> {
  return {
    expected: schema.expected,
    fits: schema.fits,
    read(node, path, context) {
      const value = schema.read(node, path, context);
      return value === undefined ? undefined : convert(value);
    },
    json: schema.json,
  };
}

/** A value that keeps its place for problems that only show later, such as an unknown step. */
export interface Located<out T> {
  readonly value: T;
  readonly at: number;
  readonly path: Path | null;
}

export function located<T, W>(schema: Schema<T, W>): Schema<Located<T>, W> {
  return {
    expected: schema.expected,
    fits: schema.fits,
    read(node, path, context) {
      const value = schema.read(node, path, context);
      return value === undefined ? undefined : { value, at: node.at, path };
    },
    json: schema.json,
  };
}

/** Text that keeps its scalar too, for places within it. */
export interface LocatedText extends Located<string> {
  readonly node: SourceScalar;
}

export function locatedText<W>(schema: Schema<string, W>): Schema<LocatedText, W> {
  return {
    expected: schema.expected,
    fits: schema.fits,
    json: schema.json,
    read(node, path, context) {
      const value = schema.read(node, path, context);
      return value === undefined || node.kind !== "scalar" ? undefined : { value, at: node.at, path, node };
    },
  };
}

/** Emit the schema once under `$defs` and refer to it. */
export function named<T, W>(name: string, schema: Schema<T, W>): Schema<T, W> {
  return {
    ...schema,
    json(definitions) {
      if (!definitions.has(name)) {
        definitions.set(name, {});
        definitions.set(name, schema.json(definitions));
      }
      return { $ref: `#/$defs/${name}` };
    },
  };
}
