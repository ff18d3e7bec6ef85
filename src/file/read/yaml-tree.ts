import {
  Composer,
  type CST,
  type Document,
  type DocumentOptions,
  isAlias,
  isMap,
  isScalar,
  isSeq,
  LineCounter,
  type ParsedNode,
  type ParseOptions,
  Parser,
  type SchemaOptions,
  type YAMLMap,
  YAMLParseError,
  type YAMLSeq,
} from "yaml";
import { childPath, type Path, ROOT } from "./path.js";
import { readPlainYaml } from "./plain-yaml.js";
import type { Findings } from "./problem.js";
import { lineStartsOf, SourceText } from "./source-text.js";
import type {
  RepeatedKey,
  SourceEntry,
  SourceList,
  SourceMap,
  SourceNode,
  SourceScalar,
} from "./source-tree.js";
import { didYouMean, quote } from "./suggest.js";

export const MAX_NESTING_LEVELS = 100;
/** Values that aliases and merges may add to what is written in the file: a stop for "billion laughs" files. */
export const MAX_ALIASED_VALUES = 1_000_000;
/**
 * Recursion limit of the composer. It is larger than the allowed nesting, so that the first excess level can be
 * reported with its place.
 */
const MAX_COMPOSED_LEVELS = 5 * MAX_NESTING_LEVELS;
const MAX_SYNTAX_PROBLEMS = 20;
const TOO_DEEP = `values are nested more than ${MAX_NESTING_LEVELS} levels deep`;
const FLATTEN = "Flatten the structure.";
const BARE_TEMPLATE = "text that begins with a template, or stands in `{ }` with one, must be in quotes";
const QUOTE_IT = 'Put the whole value in quotes, as in `exec: "echo {{ inputs.x }}"`.';

export interface SourceDocument {
  readonly text: SourceText;
  /** Null where the file has no content or its syntax is broken; the reason is among the findings. */
  readonly root: SourceNode | null;
}

/** YAML or JSON text into a tree with places. JSON is a part of YAML 1.2, so one parser serves both. */
export function readYaml(source: string, findings: Findings): SourceDocument {
  const plain = readPlainYaml(source, MAX_NESTING_LEVELS);
  if (plain !== null) return { text: new SourceText(source, lineStartsOf(source)), root: plain };
  return readAnyYaml(source, findings);
}

/** The full parser: slower, and knows all of YAML and what is wrong with a file. */
export function readAnyYaml(source: string, findings: Findings): SourceDocument {
  const lines = new LineCounter();
  // `uniqueKeys` of the parser compares each key with all before it, which is quadratic; the tree looks for itself.
  const parsing = {
    lineCounter: lines,
    uniqueKeys: false,
    prettyErrors: false,
    resolveKnownTags: false,
    logLevel: "error",
  } as const;
  const document = composeOrRefuse(source, parsing, findings);
  const text = new SourceText(source, lines.lineStarts);
  if (document === null || reportSyntax(document, source, findings)) return { text, root: null };
  if (document.contents === null) {
    findings.error({
      code: "MISSING_KEY",
      message: "the file is empty",
      hint: "Start with `steps:` and one step.",
      at: 0,
      path: ROOT,
    });
    return { text, root: null };
  }
  const root = new TreeBuilder(findings).build(document.contents as ParsedNode);
  return { text, root: findings.errors.length > 0 ? null : root };
}

/**
 * The parser recurses into nested blocks, and so does the composer, with patterns that it compiles on the way: at the
 * very end of a stack V8 may end the process instead of throwing. A file made to do that is a problem of the file.
 */
function composeOrRefuse(
  source: string,
  parsing: DocumentOptions & ParseOptions & SchemaOptions & { lineCounter: LineCounter },
  findings: Findings,
): Document.Parsed | null {
  const tokens = tokensOf(source, parsing.lineCounter);
  if (tokens === null || tokens.some(isTooDeep)) {
    findings.error({ code: "YAML_SYNTAX", message: TOO_DEEP, hint: FLATTEN, at: 0, path: ROOT });
    return null;
  }
  const [document, second] = new Composer(parsing).compose(tokens, true, source.length);
  if (second !== undefined)
    document!.errors.push(
      new YAMLParseError([second.range[0], second.range[1]], "MULTIPLE_DOCS", "several documents"),
    );
  return document as Document.Parsed;
}

function tokensOf(source: string, lines: LineCounter): CST.Token[] | null {
  try {
    return [...new Parser(lines.addNewLine).parse(source)];
  } catch (error) {
    if (error instanceof RangeError) return null;
    throw error;
  }
}

function isTooDeep(root: CST.Token): boolean {
  let level: CST.Token[] = [root];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_COMPOSED_LEVELS) return true;
    level = level.flatMap(tokensIn);
  }
  return false;
}

function tokensIn(token: CST.Token): CST.Token[] {
  if (token.type === "document") return token.value === undefined ? [] : [token.value];
  if (!("items" in token)) return [];
  return token.items.flatMap((item) => [item.key, item.value].filter((part) => part != null));
}

function reportSyntax(document: Document.Parsed, source: string, findings: Findings): boolean {
  const template = bareTemplateAt(source, document.errors[0]);
  if (template !== null) {
    // Whatever else the parser says follows from it.
    findings.error({ code: "YAML_SYNTAX", message: BARE_TEMPLATE, hint: QUOTE_IT, at: template, path: ROOT });
    return true;
  }
  for (const problem of [...document.errors, ...document.warnings].slice(0, MAX_SYNTAX_PROBLEMS)) {
    const [message, hint] = explainSyntax(problem.code, problem.message);
    findings.error({ code: "YAML_SYNTAX", message, hint, at: problem.pos[0], path: ROOT });
  }
  const { yaml } = document.directives;
  if (yaml.explicit === true && yaml.version !== "1.2") {
    const message = `YAML ${yaml.version} is not supported`;
    findings.error({
      code: "YAML_SYNTAX",
      message,
      hint: "Remove the %YAML line; files are read as YAML 1.2.",
      at: 0,
      path: ROOT,
    });
  }
  return findings.errors.length > 0;
}

/** The position of an unquoted template before the error, on the same line. YAML reads its braces as maps. */
function bareTemplateAt(source: string, error: YAMLParseError | undefined): number | null {
  if (error === undefined) return null;
  const lineAt = source.lastIndexOf("\n", error.pos[0] - 1) + 1;
  const braces = source.indexOf("{{", lineAt);
  if (braces === -1 || braces > error.pos[0]) return null;
  const before = source.slice(lineAt, braces);
  const isQuoted = ['"', "'"].some((mark) => before.split(mark).length % 2 === 0);
  return isQuoted ? null : braces;
}

function explainSyntax(code: string, message: string): [message: string, hint: string | undefined] {
  switch (code) {
    case "TAB_AS_INDENT":
      return ["a tab is used as indentation", "Indent with spaces."];
    case "MULTIPLE_DOCS":
      return [
        "the file holds more than one document",
        "Keep one workflow per file; remove the second `---`.",
      ];
    case "RESOURCE_EXHAUSTION":
      return [TOO_DEEP, FLATTEN];
    case "TAG_RESOLVE_FAILED":
      return [
        `${message.replace(/^Unresolved tag: /, "unknown tag ")}`,
        "Remove the tag; write plain values.",
      ];
    default:
      return [message.charAt(0).toLowerCase() + message.slice(1), undefined];
  }
}

interface Sized {
  readonly node: SourceNode;
  /** Values in it with every alias counted in full: what a reader will visit. */
  readonly size: number;
}

type Anchor = Sized | "open";

class TreeBuilder {
  private readonly anchors = new Map<string, Anchor>();
  private aliasedValues = 0;
  private stopped = false;

  constructor(private readonly findings: Findings) {}

  build(root: ParsedNode): SourceNode | null {
    return this.convert(root, ROOT, 0)?.node ?? null;
  }

  private convert(node: ParsedNode | null, path: Path | null, depth: number): Sized | null {
    if (this.stopped) return null;
    if (node === null) return null;
    const at = node.range[0];
    if (depth > MAX_NESTING_LEVELS) {
      this.stopped = true;
      return this.fail(TOO_DEEP, FLATTEN, at, path);
    }
    if (isAlias(node)) return this.resolveAlias(node.source, at, path);
    const anchor = "anchor" in node ? node.anchor : undefined;
    if (anchor !== undefined) this.anchors.set(anchor, "open");
    const sized = this.convertContent(node, at, path, depth);
    if (anchor !== undefined && sized !== null) this.anchors.set(anchor, sized);
    return sized;
  }

  private convertContent(node: ParsedNode, at: number, path: Path | null, depth: number): Sized | null {
    if (isMap(node)) return this.convertMap(node as YAMLMap.Parsed, at, path, depth);
    if (isSeq(node)) return this.convertList(node as YAMLSeq.Parsed, at, path, depth);
    return isScalar(node) ? { node: toScalar(node, at), size: 1 } : null;
  }

  private convertList(list: YAMLSeq.Parsed, at: number, path: Path | null, depth: number): Sized {
    const items: SourceNode[] = [];
    let size = 1;
    for (const item of list.items) {
      const converted = this.convert(item as ParsedNode, childPath(path, items.length), depth + 1);
      if (converted === null) continue;
      items.push(converted.node);
      size += converted.size;
    }
    return { node: { kind: "list", at, items } satisfies SourceList, size };
  }

  private convertMap(map: YAMLMap.Parsed, at: number, path: Path | null, depth: number): Sized {
    const entries = new Map<string, SourceEntry>();
    const repeated: RepeatedKey[] = [];
    const merged: SourceMap[] = [];
    let size = 1;
    for (const pair of map.items) {
      const key = this.readKey(pair.key, at, path);
      if (key === null) continue;
      const value = this.convert(pair.value ?? null, childPath(path, key.text), depth + 1);
      const keyAt = key.at;
      if (key.merges) {
        if (value !== null) size += this.collectMerge(value, keyAt, path, merged);
        continue;
      }
      size += value?.size ?? 1;
      const first = entries.get(key.text);
      if (first !== undefined) repeated.push({ key: key.text, at: keyAt, firstAt: first.keyAt });
      else entries.set(key.text, { key: key.text, keyAt, value: value?.node ?? emptyScalar(keyAt) });
    }
    // The map's own keys win over merged ones, and an earlier merge over a later one.
    for (const source of merged) {
      for (const entry of source.entries) if (!entries.has(entry.key)) entries.set(entry.key, entry);
    }
    return { node: { kind: "map", at, entries: [...entries.values()], repeated }, size };
  }

  private collectMerge(value: Sized, at: number, path: Path | null, merged: SourceMap[]): number {
    const sources = value.node.kind === "list" ? value.node.items : [value.node];
    for (const source of sources) {
      if (source.kind === "map") merged.push(source);
      else this.fail("`<<` can merge only maps", "Write `<<: *anchor`, with an anchor on a map.", at, path);
    }
    return value.size;
  }

  private readKey(
    key: unknown,
    mapAt: number,
    path: Path | null,
  ): { text: string; at: number; merges: boolean } | null {
    if (isScalar(key)) {
      const at = key.range?.[0] ?? mapAt;
      const written = toScalar(key, at);
      if (written.value !== null) {
        const text = typeof written.value === "string" ? written.value : written.written;
        return { text, at, merges: text === "<<" && written.style === "plain" };
      }
      this.fail("a key is empty", "Put a name before the colon.", at, path);
      return null;
    }
    if (isMap(key)) this.fail(BARE_TEMPLATE, QUOTE_IT, mapAt, path);
    else this.fail("a key must be plain text", "Write `name: value`.", mapAt, path);
    return null;
  }

  private resolveAlias(name: string, at: number, path: Path | null): Sized | null {
    const anchor = this.anchors.get(name);
    if (anchor === "open")
      return this.fail(`the alias *${name} is inside its own anchor`, "Remove the circle.", at, path);
    if (anchor === undefined) {
      const suggestion = this.findings.suggester.nearest(name, this.anchors.keys());
      return this.fail(
        `the alias ${quote(`*${name}`)} has no anchor before it${didYouMean(suggestion)}`,
        `Mark a value above with &${name}.`,
        at,
        path,
      );
    }
    this.aliasedValues += anchor.size;
    if (this.aliasedValues > MAX_ALIASED_VALUES) {
      this.stopped = true;
      return this.fail(
        `aliases add more than ${MAX_ALIASED_VALUES} values`,
        "Use fewer aliases of aliases.",
        at,
        path,
      );
    }
    return anchor;
  }

  private fail(message: string, hint: string, at: number, path: Path | null): null {
    this.findings.error({ code: "YAML_SYNTAX", message, hint, at, path });
    return null;
  }
}

function toScalar(node: { value: unknown; source?: string; type?: unknown }, at: number): SourceScalar {
  const raw = node.value;
  const value = typeof raw === "string" || typeof raw === "number" || typeof raw === "boolean" ? raw : null;
  return {
    kind: "scalar",
    at,
    value,
    written: node.source ?? String(value ?? ""),
    style: styleOf(node.type),
  };
}

function emptyScalar(at: number): SourceScalar {
  return { kind: "scalar", at, value: null, written: "", style: "plain" };
}

function styleOf(type: unknown): SourceScalar["style"] {
  if (type === "BLOCK_LITERAL") return "literal";
  if (type === "BLOCK_FOLDED") return "folded";
  return type === "QUOTE_DOUBLE" || type === "QUOTE_SINGLE" ? "quoted" : "plain";
}
