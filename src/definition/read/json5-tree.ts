import { createRequire } from "node:module";
import type { Expression, Literal, ObjectExpression, Property, SpreadElement } from "acorn";
import { childPath, type Path, ROOT } from "./path.js";
import type { Findings } from "./problem.js";
import { lineStartsOf, SourceText } from "./source-text.js";
import type { RepeatedKey, SourceEntry, SourceNode, SourceScalar } from "./source-tree.js";
import { MAX_NESTING_LEVELS, type SourceDocument } from "./yaml-tree.js";

const HINT = "JSON5 is JSON with comments, trailing commas, unquoted keys and single quotes.";

let acorn: typeof import("acorn") | undefined;

/** JSON5 is a part of JavaScript's expressions: its parser knows the grammar, and where everything stands. */
export function readJson5(source: string, findings: Findings): SourceDocument {
  const text = new SourceText(source, lineStartsOf(source));
  acorn ??= createRequire(import.meta.url)("acorn") as typeof import("acorn");
  const fail = (message: string, at: number) =>
    findings.error({ code: "YAML_SYNTAX", message, hint: HINT, at, path: ROOT });
  try {
    const before = findings.errors.length;
    const parsed = parseValue(acorn, source);
    const root = convert(parsed, ROOT, source, findings, 0);
    return { text, root: findings.errors.length > before ? null : root };
  } catch (error) {
    if (error instanceof RangeError) fail(`values are nested more than ${MAX_NESTING_LEVELS} levels deep`, 0);
    else if (error instanceof SyntaxError) {
      const { pos = 0 } = error as SyntaxError & { readonly pos?: number };
      fail(`the file is not JSON5: ${error.message.replace(/ \(\d+:\d+\)$/, "")}`, pos);
    } else throw error;
    return { text, root: null };
  }
}

/** The one value of the file; something behind it is a mistake. */
function parseValue({ parseExpressionAt, tokenizer }: typeof import("acorn"), source: string): Expression {
  const value = parseExpressionAt(source, 0, { ecmaVersion: 5 });
  const next = tokenizer(source.slice(value.end), { ecmaVersion: 5 }).getToken();
  if (next.type.label === "eof") return value;
  throw Object.assign(new SyntaxError("there is more text after the end of the value"), {
    pos: value.end + next.start,
  });
}

function convert(
  node: Expression | SpreadElement | null,
  path: Path | null,
  source: string,
  findings: Findings,
  depth: number,
): SourceNode {
  const at = node?.start ?? 0;
  if (depth > MAX_NESTING_LEVELS) throw new RangeError();
  if (node?.type === "ObjectExpression") return convertMap(node, path, source, findings, depth);
  if (node?.type === "ArrayExpression") {
    const items = node.elements.map((item, index) =>
      convert(item, childPath(path, index), source, findings, depth + 1),
    );
    return { kind: "list", at, items };
  }
  const value = node === null ? undefined : scalarOf(node);
  if (value === undefined) {
    const message = "expected a value of JSON5: text, a number, true, false, null, a list or a map";
    findings.error({ code: "YAML_SYNTAX", message, hint: HINT, at, path });
  }
  const style = typeof value === "string" ? "quoted" : "plain";
  const written = typeof value === "string" ? value : source.slice(at, node?.end ?? at);
  return { kind: "scalar", at, value: value ?? null, written, style };
}

function scalarOf(node: Expression | SpreadElement): SourceScalar["value"] | undefined {
  if (node.type === "Identifier") {
    if (node.name === "Infinity") return Number.POSITIVE_INFINITY;
    return node.name === "NaN" ? Number.NaN : undefined;
  }
  if (node.type === "UnaryExpression" && (node.operator === "-" || node.operator === "+")) {
    const number = scalarOf(node.argument);
    if (typeof number !== "number") return undefined;
    return node.operator === "-" ? -number : number;
  }
  return node.type === "Literal" ? literalOf(node) : undefined;
}

function literalOf({ value }: Literal): SourceScalar["value"] | undefined {
  if (value === null) return null;
  return typeof value === "string" || typeof value === "number" || typeof value === "boolean"
    ? value
    : undefined;
}

function convertMap(
  node: ObjectExpression,
  path: Path | null,
  source: string,
  findings: Findings,
  depth: number,
): SourceNode {
  const entries = new Map<string, SourceEntry>();
  const repeated: RepeatedKey[] = [];
  for (const property of node.properties) {
    const key = keyOf(property);
    if (key === null || property.type !== "Property") {
      const message = "expected a key and a value";
      findings.error({ code: "YAML_SYNTAX", message, hint: HINT, at: property.start, path });
      continue;
    }
    const first = entries.get(key);
    if (first !== undefined) repeated.push({ key, at: property.start, firstAt: first.keyAt });
    const value = convert(property.value, childPath(path, key), source, findings, depth + 1);
    if (first === undefined) entries.set(key, { key, keyAt: property.start, value });
  }
  return { kind: "map", at: node.start, entries: [...entries.values()], repeated };
}

function keyOf(property: Property | SpreadElement): string | null {
  if (property.type !== "Property" || property.kind !== "init") return null;
  if (property.key.type === "Identifier") return property.key.name;
  return property.key.type === "Literal" ? String(property.key.value) : null;
}
