import { childPath, type Path, ROOT } from "./path.js";
import type { Findings } from "./problem.js";
import { lineStartsOf, SourceText } from "./source-text.js";
import type { RepeatedKey, SourceEntry, SourceNode, SourceScalar } from "./source-tree.js";
import { MAX_NESTING_LEVELS, type SourceDocument } from "./yaml-tree.js";

const SPACE = /[\s\uFEFF]+/y;
const LINE_COMMENT = /\/\/[^\n\r\u2028\u2029]*/y;
const NUMBER = /[+-]?(?:0[xX][0-9A-Fa-f]+|(?:(?:0|[1-9]\d*)(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?|Infinity|NaN)/y;
const NAME = /[\p{L}\p{Nl}$_][\p{L}\p{Nl}\p{Mn}\p{Mc}\p{Nd}\p{Pc}$_\u200C\u200D]*/uy;
/** Up to the next quote, escape or end of the line. */
const PLAIN_TEXT = /[^"'\\\n\r]+/y;
const ESCAPE = /\\(?:x([0-9A-Fa-f]{2})|u([0-9A-Fa-f]{4})|(\r\n|[\s\S]))/y;
const ESCAPED: { readonly [letter: string]: string } = {
  b: "\b",
  f: "\f",
  n: "\n",
  r: "\r",
  t: "\t",
  v: "\v",
  "0": "\0",
  "\n": "",
  "\r": "",
  "\r\n": "",
  "\u2028": "",
  "\u2029": "",
};
const WORDS = new Map<string, SourceScalar["value"]>([
  ["true", true],
  ["false", false],
  ["null", null],
]);
const HINT = "JSON5 is JSON with comments, trailing commas, unquoted keys and single quotes.";

/** JSON5 text into a tree with places. */
export function readJson5(source: string, findings: Findings): SourceDocument {
  const text = new SourceText(source, lineStartsOf(source));
  const reader = new Json5Reader(source);
  try {
    return { text, root: reader.readAll() };
  } catch (error) {
    if (!(error instanceof Json5Problem)) throw error;
    const { message, at } = error;
    findings.error({ code: "YAML_SYNTAX", message, hint: HINT, at, path: ROOT });
    return { text, root: null };
  }
}

class Json5Problem extends Error {
  constructor(
    message: string,
    readonly at: number,
  ) {
    super(message);
  }
}

class Json5Reader {
  private at = 0;

  constructor(private readonly source: string) {}

  readAll(): SourceNode {
    const root = this.readValue(ROOT, 0);
    this.skipBlank();
    if (this.at < this.source.length) this.fail("there is more text after the end of the value");
    return root;
  }

  private readValue(path: Path | null, depth: number): SourceNode {
    this.skipBlank();
    const { at } = this;
    const first = this.source[at];
    if (depth > MAX_NESTING_LEVELS)
      this.fail(`values are nested more than ${MAX_NESTING_LEVELS} levels deep`);
    if (first === "{") return this.readMap(path, depth);
    if (first === "[") return this.readList(path, depth);
    if (first === '"' || first === "'") {
      const value = this.readText(first);
      return { kind: "scalar", at, value, written: value, style: "quoted" };
    }
    const number = this.take(NUMBER);
    if (number !== null)
      return { kind: "scalar", at, value: toNumber(number), written: number, style: "plain" };
    const word = this.take(NAME);
    const value = WORDS.get(word ?? "");
    if (value !== undefined) return { kind: "scalar", at, value, written: word!, style: "plain" };
    this.at = at;
    return this.fail(first === undefined ? "the file ends where a value is expected" : "expected a value");
  }

  private readList(path: Path | null, depth: number): SourceNode {
    const at = this.at++;
    const items: SourceNode[] = [];
    while (!this.ends("]")) {
      items.push(this.readValue(childPath(path, items.length), depth + 1));
      this.readComma("]");
    }
    return { kind: "list", at, items };
  }

  private readMap(path: Path | null, depth: number): SourceNode {
    const at = this.at++;
    const entries = new Map<string, SourceEntry>();
    const repeated: RepeatedKey[] = [];
    while (!this.ends("}")) {
      const keyAt = this.at;
      const key = this.readKey();
      this.skipBlank();
      if (this.source[this.at] !== ":") this.fail("expected `:` after a key");
      this.at++;
      const value = this.readValue(childPath(path, key), depth + 1);
      const first = entries.get(key);
      if (first === undefined) entries.set(key, { key, keyAt, value });
      else repeated.push({ key, at: keyAt, firstAt: first.keyAt });
      this.readComma("}");
    }
    return { kind: "map", at, entries: [...entries.values()], repeated };
  }

  private readKey(): string {
    const first = this.source[this.at];
    if (first === '"' || first === "'") return this.readText(first);
    return this.take(NAME) ?? this.fail("expected a key");
  }

  private readText(quote: string): string {
    const start = this.at++;
    const parts: string[] = [];
    for (;;) {
      const next = this.source[this.at];
      if (next === quote) break;
      if (next === undefined || next === "\n" || next === "\r")
        this.fail("the text has no closing quote", start);
      if (next === "\\") parts.push(this.readEscape());
      else parts.push(this.take(PLAIN_TEXT) ?? this.source[this.at++]!);
    }
    this.at++;
    return parts.join("");
  }

  private readEscape(): string {
    ESCAPE.lastIndex = this.at;
    const [whole = "", byte, unit, letter = ""] = ESCAPE.exec(this.source) ?? [];
    if (whole === "" || /^[1-9xu]$/.test(letter)) this.fail("unknown escape sequence");
    this.at += whole.length;
    const code = byte ?? unit;
    return code === undefined ? (ESCAPED[letter] ?? letter) : String.fromCharCode(Number.parseInt(code, 16));
  }

  /** Whether the list or map is over; then its end is read. */
  private ends(bracket: string): boolean {
    this.skipBlank();
    if (this.source[this.at] !== bracket) return false;
    this.at++;
    return true;
  }

  private readComma(bracket: string): void {
    this.skipBlank();
    if (this.source[this.at] === ",") this.at++;
    else if (this.source[this.at] !== bracket) this.fail(`expected \`,\` or \`${bracket}\``);
  }

  private skipBlank(): void {
    while (this.take(SPACE) !== null || this.take(LINE_COMMENT) !== null || this.skipComment());
  }

  private skipComment(): boolean {
    if (!this.source.startsWith("/*", this.at)) return false;
    const end = this.source.indexOf("*/", this.at + 2);
    if (end === -1) this.fail("the comment has no end");
    this.at = end + 2;
    return true;
  }

  private take(pattern: RegExp): string | null {
    pattern.lastIndex = this.at;
    const found = pattern.exec(this.source)?.[0] ?? null;
    this.at += found?.length ?? 0;
    return found;
  }

  private fail(message: string, at = this.at): never {
    throw new Json5Problem(`the file is not JSON5: ${message}`, at);
  }
}

function toNumber(written: string): number {
  const sign = written.startsWith("-") ? -1 : 1;
  return sign * Number(written.replace(/^[+-]/, ""));
}
