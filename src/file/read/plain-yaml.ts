import { added, NONE } from "../../core/model/sparse-lists.js";
import {
  BAR,
  COLON,
  COMMA,
  Cursor,
  DASH,
  END_OF_FILE,
  HASH,
  LIST_CLOSES,
  LIST_OPENS,
  leaveToFullParser,
  MAP_CLOSES,
  NEWLINE,
  readToken,
  SPACE,
  UNSURE,
} from "./plain-token.js";
import type { RepeatedKey, SourceEntry, SourceNode, SourceScalar } from "./source-tree.js";

/** Characters that YAML treats in ways of their own: tabs, carriage returns, control characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: they are what it looks for
const NOT_PLAIN = /[\u0000-\u0009\u000b-\u001f\u007f-\u009f\u2028\u2029\ufeff\ufffe\uffff]/;
/** YAML allows a key 1,024 characters; this stays away from how exactly they are counted. */
const MAX_KEY_CHARS = 1_000;
const BLANK_LINE = /^ *$/;
const MAX_UNINDEXED = 8;

/**
 * Reads the part of YAML that most workflow files are written in, many times as fast as the full parser: block maps
 * and lists, scalars on one line, `|` texts, brackets. It knows no errors: whatever it is not sure of (anchors, tags,
 * folded texts, tabs, anything broken) makes it answer null, and the full parser reads the file. Written by hand
 * because no fast parser keeps places; `plain-yaml.test.ts` holds the two against each other.
 */
export function readPlainYaml(source: string, maxDepth: number): SourceNode | null {
  if (NOT_PLAIN.test(source)) return null;
  try {
    return new PlainReader(new Cursor(source), maxDepth).readDocument();
  } catch (error) {
    if (error === UNSURE) return null;
    throw error;
  }
}

/** `column` is that of the collection which holds what is read: its values stand further to the right. */
class PlainReader {
  constructor(
    private readonly cursor: Cursor,
    private readonly maxDepth: number,
  ) {}

  readDocument(): SourceNode {
    const { cursor } = this;
    cursor.toLineFrom(0);
    if (cursor.column === END_OF_FILE) leaveToFullParser();
    const root = cursor.opensFlow() ? this.readInline(-1, 0) : this.readBlock(0);
    return cursor.column === END_OF_FILE ? root : leaveToFullParser();
  }

  /** A collection that begins here, on a line of its own or behind the dash of another. */
  private readBlock(depth: number): SourceNode {
    if (depth > this.maxDepth) leaveToFullParser();
    return this.cursor.isDash() ? this.readList(depth) : this.readMap(depth);
  }

  private readList(depth: number): SourceNode {
    const { cursor } = this;
    const { column, pos: at } = cursor;
    const items: SourceNode[] = [];
    while (cursor.column === column && cursor.isDash()) {
      cursor.pos++;
      items.push(this.readItem(column, depth + 1));
    }
    if (cursor.column > column) leaveToFullParser();
    return { kind: "list", at, items };
  }

  private readItem(column: number, depth: number): SourceNode {
    const { cursor } = this;
    cursor.skipSpaces();
    if (cursor.isLineEnd()) {
      cursor.toNextLine();
      return cursor.column > column ? this.readBlock(depth) : leaveToFullParser();
    }
    if (!cursor.isDash() && !this.isKey()) return this.readInline(column, depth);
    cursor.column = cursor.pos - cursor.lineStart;
    return this.readBlock(depth);
  }

  private readMap(depth: number): SourceNode {
    const { cursor } = this;
    const { column, pos } = cursor;
    const map = new MapBuilder(pos);
    while (cursor.column === column && !cursor.isDash()) {
      const key = readToken(cursor, false);
      if (!cursor.isBlank(cursor.pos + 1)) leaveToFullParser();
      this.passColon(key);
      map.add(key, this.readValue(column, depth + 1));
    }
    if (cursor.column >= column) leaveToFullParser();
    return map.node();
  }

  private readValue(column: number, depth: number): SourceNode {
    const { cursor } = this;
    cursor.skipSpaces();
    const at = cursor.pos;
    if (!cursor.isLineEnd()) return this.readInline(column, depth);
    const hasComment = cursor.here() === HASH;
    cursor.toNextLine();
    if (cursor.column > column) return this.readBlock(depth);
    // A list may stand under its key without being indented.
    if (cursor.column === column && cursor.isDash()) return this.readList(depth);
    if (hasComment) leaveToFullParser();
    return { kind: "scalar", at, value: null, written: "", style: "plain" };
  }

  /** What stands behind a colon or a dash, to the end of its line or of its brackets. */
  private readInline(column: number, depth: number): SourceNode {
    const { cursor } = this;
    if (cursor.here() === BAR) return this.readLiteral(column);
    const node = this.readFlowValue(column, depth, false);
    cursor.skipSpaces();
    if (!cursor.isLineEnd()) leaveToFullParser();
    cursor.toNextLine();
    return node;
  }

  private readLiteral(column: number): SourceNode {
    const { cursor } = this;
    const { source, pos: at } = cursor;
    const strips = cursor.at(at + 1) === DASH;
    const headerEnd = at + (strips ? 2 : 1);
    if (cursor.at(headerEnd) !== NEWLINE) leaveToFullParser();
    const lines: string[] = [];
    let indent: number | null = null;
    let longestBlank = 0;
    let start = headerEnd + 1;
    while (start < source.length) {
      const end = cursor.lineEndFrom(start);
      let text = start;
      while (text < end && cursor.at(text) === SPACE) text++;
      if (text < end) {
        indent ??= text - start;
        if (indent <= column || longestBlank > indent) leaveToFullParser();
        if (text - start < indent) break;
      } else if (indent === null) longestBlank = Math.max(longestBlank, end - start);
      // Later lines determine how many of these blanks belong to the text.
      else if (end - start > indent) leaveToFullParser();
      lines.push(indent === null ? "" : source.slice(Math.min(start + indent, end), end));
      start = end + 1;
    }
    if (indent === null) leaveToFullParser();
    while (BLANK_LINE.test(lines.at(-1) ?? "none left")) lines.pop();
    cursor.toLineFrom(Math.min(start, source.length));
    const value = `${lines.join("\n")}${strips ? "" : "\n"}`;
    return { kind: "scalar", at, value, written: value, style: "literal" };
  }

  private readFlowValue(column: number, depth: number, inFlow: boolean): SourceNode {
    if (!this.cursor.opensFlow()) return readToken(this.cursor, inFlow);
    if (depth > this.maxDepth) leaveToFullParser();
    return this.cursor.here() === LIST_OPENS
      ? this.readFlowList(column, depth)
      : this.readFlowMap(column, depth);
  }

  private readFlowList(column: number, depth: number): SourceNode {
    const at = this.cursor.pos++;
    const items: SourceNode[] = [];
    while (this.hasFlowItem(column, LIST_CLOSES, items.length > 0))
      items.push(this.readFlowValue(column, depth + 1, true));
    return { kind: "list", at, items };
  }

  private readFlowMap(column: number, depth: number): SourceNode {
    const { cursor } = this;
    const map = new MapBuilder(cursor.pos++);
    for (let isFirst = true; this.hasFlowItem(column, MAP_CLOSES, !isFirst); isFirst = false) {
      const key = readToken(cursor, true);
      if (key.style === "plain" && !cursor.isBlank(cursor.pos + 1)) leaveToFullParser();
      this.passColon(key);
      cursor.skipFlowSpaces(column);
      map.add(key, this.readFlowValue(column, depth + 1, true));
    }
    return map.node();
  }

  /** Past the comma to the next item, or past the bracket that closes. */
  private hasFlowItem(column: number, closes: number, needsComma: boolean): boolean {
    const { cursor } = this;
    cursor.skipFlowSpaces(column);
    if (needsComma && cursor.here() === COMMA) {
      cursor.pos++;
      cursor.skipFlowSpaces(column);
    } else if (needsComma && cursor.here() !== closes) leaveToFullParser();
    if (cursor.here() !== closes) return true;
    cursor.pos++;
    return false;
  }

  /** Whether what begins here is the first key of a map behind a dash. */
  private isKey(): boolean {
    const { cursor } = this;
    const { pos } = cursor;
    if (cursor.opensFlow() || cursor.here() === BAR) return false;
    readToken(cursor, false);
    const isKey = cursor.here() === COLON && cursor.isBlank(cursor.pos + 1);
    cursor.pos = pos;
    return isKey;
  }

  private passColon(key: SourceScalar): void {
    const { cursor } = this;
    if (cursor.here() !== COLON || cursor.pos - key.at > MAX_KEY_CHARS) leaveToFullParser();
    cursor.pos++;
  }
}

class MapBuilder {
  private readonly entries: SourceEntry[] = [];
  /** For a map with many keys. The few keys of a step, of which there may be very many, are searched directly. */
  private index: Map<string, SourceEntry> | null = null;
  private repeated: readonly RepeatedKey[] = NONE;

  constructor(private readonly at: number) {}

  add({ value: given, written, style, at }: SourceScalar, value: SourceNode): void {
    const key = typeof given === "string" ? given : written;
    if (given === null || (key === "<<" && style === "plain")) leaveToFullParser();
    const first = this.find(key);
    if (first !== undefined) this.repeated = added(this.repeated, { key, at, firstAt: first.keyAt });
    else this.append({ key, keyAt: at, value });
  }

  node(): SourceNode {
    return { kind: "map", at: this.at, entries: this.entries, repeated: this.repeated };
  }

  private find(key: string): SourceEntry | undefined {
    if (this.index !== null) return this.index.get(key);
    return this.entries.find((entry) => entry.key === key);
  }

  private append(entry: SourceEntry): void {
    this.entries.push(entry);
    if (this.index !== null) this.index.set(entry.key, entry);
    else if (this.entries.length > MAX_UNINDEXED)
      this.index = new Map(this.entries.map((each) => [each.key, each]));
  }
}
