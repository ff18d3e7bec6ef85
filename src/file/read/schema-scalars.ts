import type { Json } from "../../core/text/json.js";
import { MAX_DURATION_MS, parseDuration } from "./amounts.js";
import { rename } from "./fix.js";
import { childPath, type Path } from "./path.js";
import { type JsonSchema, type ReadContext, reportRepeatedKeys, type Schema, wrongType } from "./schema.js";
import type { SourceEntry, SourceNode, SourceScalar } from "./source-tree.js";
import { didYouMean, quote } from "./suggest.js";

export interface TextOptions {
  readonly expected?: string;
  /** Numbers and booleans are taken as they are written: `1.10` stays `1.10`. */
  readonly asWritten?: boolean;
  readonly mayBeEmpty?: boolean;
  readonly pattern?: RegExp;
  /** What the pattern asks for, as a hint. */
  readonly rule?: string;
  readonly maxChars?: number;
  /** A further look at the text, once it is known to be one. */
  readonly check?: (text: string, node: SourceScalar, path: Path | null, context: ReadContext) => void;
}

export type Scalar = string | number | boolean;

/** Text that a program may also give as a number or a truth, as a file may. */
export function scalarText(options: Omit<TextOptions, "asWritten">): Schema<string, Scalar> {
  return text({ ...options, asWritten: true }) as Schema<string, unknown> as Schema<string, Scalar>;
}

export function text(options: TextOptions = {}): Schema<string, string> {
  const schema: Schema<string, string> = {
    expected: options.expected ?? "text",
    fits: (node) =>
      node.kind === "scalar" &&
      node.value !== null &&
      (options.asWritten === true || typeof node.value === "string"),
    read(node, path, context) {
      if (node.kind !== "scalar" || node.value === null) return wrongType(schema, node, path, context);
      if (typeof node.value !== "string" && !options.asWritten) {
        const message = `expected ${schema.expected}, found \`${node.written}\``;
        context.findings.error({
          code: "WRONG_TYPE",
          message,
          hint: `Put it in quotes: "${node.written}".`,
          at: node.at,
          path,
        });
        return undefined;
      }
      const value = typeof node.value === "string" ? node.value : node.written;
      const flaw = flawOf(value, options);
      if (flaw !== null) {
        context.findings.error({
          code: "INVALID_VALUE",
          message: flaw,
          hint: options.rule,
          at: node.at,
          path,
        });
        return undefined;
      }
      options.check?.(value, node, path, context);
      return value;
    },
    json: () => textJson(options),
  };
  return schema;
}

function flawOf(value: string, options: TextOptions): string | null {
  if (value === "" && !options.mayBeEmpty) return "the text is empty";
  if (options.maxChars !== undefined && value.length > options.maxChars)
    return `the text has ${value.length} characters, more than ${options.maxChars}`;
  if (value.includes("\0")) return "the text contains a NUL character";
  return options.pattern === undefined || options.pattern.test(value)
    ? null
    : `${quote(value)} is not allowed here`;
}

function textJson(options: TextOptions): JsonSchema {
  const json: JsonSchema = { type: options.asWritten ? ["string", "number", "boolean"] : "string" };
  if (!options.mayBeEmpty) json.minLength = 1;
  if (options.maxChars !== undefined) json.maxLength = options.maxChars;
  if (options.pattern !== undefined) json.pattern = options.pattern.source;
  return json;
}

/** One of a few words. `beside`: what else the value may be, for the hint. */
export function oneOf<const W extends string>(words: readonly W[], beside = ""): Schema<W, W> {
  const expected =
    words.length === 1 ? `\`${words[0]}\`` : `one of ${words.map((word) => `\`${word}\``).join(", ")}`;
  const schema: Schema<W, W> = {
    expected,
    fits: (node) => node.kind === "scalar" && typeof node.value === "string",
    read(node, path, context) {
      if (node.kind !== "scalar" || typeof node.value !== "string")
        return wrongType(schema, node, path, context);
      const word = words.find((candidate) => candidate === node.value);
      if (word !== undefined) return word;
      const name = quote(node.value);
      const suggestion = context.findings.suggester.nearest(node.value, words);
      const message = `${name} is not allowed here${didYouMean(suggestion)}`;
      context.findings.error({
        code: "INVALID_VALUE",
        message,
        hint: `Write ${expected}${beside}.`,
        at: node.at,
        path,
        mending: rename(node.value, suggestion),
      });
      return undefined;
    },
    json: () => ({ enum: [...words] }),
  };
  return schema;
}

export function boolean(): Schema<boolean, boolean> {
  const schema: Schema<boolean, boolean> = {
    expected: "`true` or `false`",
    fits: (node) => node.kind === "scalar" && typeof node.value === "boolean",
    read(node, path, context) {
      if (node.kind === "scalar" && typeof node.value === "boolean") return node.value;
      return wrongType(schema, node, path, context);
    },
    json: () => ({ type: "boolean" }),
  };
  return schema;
}

export function number(range: { min: number; max: number; whole: boolean }): Schema<number, number> {
  const schema: Schema<number, number> = {
    expected: `${range.whole ? "a whole number" : "a number"} from ${range.min} to ${range.max}`,
    fits: (node) => node.kind === "scalar" && typeof node.value === "number",
    read(node, path, context) {
      if (node.kind !== "scalar" || typeof node.value !== "number")
        return wrongType(schema, node, path, context);
      const fits =
        node.value >= range.min && node.value <= range.max && (!range.whole || Number.isInteger(node.value));
      if (fits) return node.value;
      const message = `${quote(node.written)} is outside what is allowed: ${schema.expected}`;
      context.findings.error({
        code: "INVALID_VALUE",
        message,
        hint: `Write ${schema.expected}.`,
        at: node.at,
        path,
      });
      return undefined;
    },
    json: () => ({ type: range.whole ? "integer" : "number", minimum: range.min, maximum: range.max }),
  };
  return schema;
}

/** A number in the unit of its key, or text such as `30s`, `1h30m`, `PT5M`. */
export type WrittenDuration = number | string;

/** Milliseconds as a number, or text with units. */
export function duration(options: { min: number }): Schema<number, WrittenDuration> {
  return durationIn({ unit: "milliseconds", msPerUnit: 1, minMs: options.min });
}

/** Seconds as a number, or text with units; read into milliseconds. */
export function durationInSeconds(options: { min: number }): Schema<number, WrittenDuration> {
  return durationIn({ unit: "seconds", msPerUnit: 1_000, minMs: options.min * 1_000 });
}

function durationIn({
  unit,
  msPerUnit,
  minMs,
}: {
  unit: string;
  msPerUnit: number;
  minMs: number;
}): Schema<number, WrittenDuration> {
  const hint = `Write ${unit} as a number, or text such as 30s, 5m, 1h30m, 250ms or PT1H30M.`;
  const schema: Schema<number, WrittenDuration> = {
    expected: "a duration",
    fits: (node) =>
      node.kind === "scalar" && (typeof node.value === "number" || typeof node.value === "string"),
    read(node, path, context) {
      if (node.kind !== "scalar" || !schema.fits(node)) return wrongType(schema, node, path, context);
      const report = (message: string) => {
        context.findings.error({ code: "INVALID_VALUE", message, hint, at: node.at, path });
        return undefined;
      };
      const ms =
        typeof node.value === "string" ? parseDuration(node.value) : (node.value as number) * msPerUnit;
      if (ms === null) return report(`${quote(String(node.value))} is not a duration`);
      if (!Number.isInteger(ms))
        return report(`${quote(node.written)} is not a whole number of milliseconds`);
      if (ms < minMs) return report(`${quote(node.written)} is too short: at least ${minMs} ms`);
      return ms > MAX_DURATION_MS
        ? report(`${quote(node.written)} is too long: at most ${MAX_DURATION_MS} ms (24.8 days)`)
        : ms;
    },
    json: () => ({
      anyOf: [
        {
          type: msPerUnit === 1 ? "integer" : "number",
          minimum: minMs / msPerUnit,
          maximum: Math.floor(MAX_DURATION_MS / msPerUnit),
        },
        { type: "string" },
      ],
    }),
  };
  return schema;
}

/** `__proto__` would be no key of the object that is made, but its prototype: it is reported. */
export function mayBeKey(entry: SourceEntry, path: Path, context: ReadContext): boolean {
  if (entry.key !== "__proto__") return true;
  context.findings.error({
    code: "INVALID_VALUE",
    message: "`__proto__` is not allowed as a key",
    hint: "Rename the key.",
    at: entry.keyAt,
    path,
  });
  return false;
}

/** Any JSON value. `checkText` looks at each text in it. */
export function json(checkText?: TextOptions["check"]): Schema<Json, Json> {
  const read = (node: SourceNode, path: Path | null, context: ReadContext): Json | undefined => {
    if (node.kind === "scalar") return readJsonScalar(node, path, context, checkText);
    if (node.kind === "list")
      return node.items.map((item, index) => read(item, childPath(path, index), context) ?? null);
    reportRepeatedKeys(node, path, context);
    const value: { [key: string]: Json } = {};
    for (const entry of node.entries) {
      const here = childPath(path, entry.key);
      if (mayBeKey(entry, here, context)) value[entry.key] = read(entry.value, here, context) ?? null;
    }
    return value;
  };
  return { expected: "any JSON value", fits: () => true, read, json: () => ({}) };
}

function readJsonScalar(
  node: SourceScalar,
  path: Path | null,
  context: ReadContext,
  checkText: TextOptions["check"],
): Json {
  const { value } = node;
  if (typeof value === "string") checkText?.(value, node, path, context);
  const inexact =
    typeof value === "number" &&
    (!Number.isFinite(value) || (Number.isInteger(value) && !Number.isSafeInteger(value)));
  if (!inexact) return value;
  const message = `the number ${quote(node.written)} cannot be represented exactly`;
  context.findings.error({
    code: "INVALID_VALUE",
    message,
    hint: "Put it in quotes to keep it as text.",
    at: node.at,
    path,
  });
  return null;
}
