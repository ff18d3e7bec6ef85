/** Codes of the characters that the reader of plain YAML looks at. */
export const END_OF_FILE = -1;
export const NEWLINE = 10;
export const SPACE = 32;
export const DOUBLE_QUOTE = 34;
export const HASH = 35;
export const SINGLE_QUOTE = 39;
export const COMMA = 44;
export const DASH = 45;
export const COLON = 58;
export const QUESTION_MARK = 63;
export const LIST_OPENS = 91;
export const BACKSLASH = 92;
export const LIST_CLOSES = 93;
export const MAP_OPENS = 123;
export const BAR = 124;
export const MAP_CLOSES = 125;

export const UNSURE = new Error("left to the full parser");

export function leaveToFullParser(): never {
  throw UNSURE;
}

/** A place in the text, with the line that it is on. */
export class Cursor {
  pos = 0;
  lineStart = 0;
  /** The column of the first character of the next line, or END_OF_FILE. */
  column = 0;

  constructor(readonly source: string) {}

  at(pos: number): number {
    return pos < this.source.length ? this.source.charCodeAt(pos) : END_OF_FILE;
  }

  here(): number {
    return this.at(this.pos);
  }

  isBlank(pos: number): boolean {
    const char = this.at(pos);
    return char === SPACE || char === NEWLINE || char === END_OF_FILE;
  }

  /** The dash of a list's item. */
  isDash(): boolean {
    return this.here() === DASH && this.isBlank(this.pos + 1);
  }

  opensFlow(): boolean {
    return this.here() === LIST_OPENS || this.here() === MAP_OPENS;
  }

  /** At the end of a line, or before the comment that ends it. */
  isLineEnd(): boolean {
    const char = this.here();
    if (char === HASH) return this.pos === this.lineStart || this.at(this.pos - 1) === SPACE;
    return char === NEWLINE || char === END_OF_FILE;
  }

  skipSpaces(): void {
    while (this.here() === SPACE) this.pos++;
  }

  /** Within brackets, where lines may break as long as they stay to the right of what holds the brackets. */
  skipFlowSpaces(column: number): void {
    this.skipSpaces();
    while (this.here() === NEWLINE) {
      this.lineStart = ++this.pos;
      this.skipSpaces();
      const isText = this.here() !== NEWLINE;
      if (isText && (this.pos - this.lineStart <= column || this.isDocumentMark())) leaveToFullParser();
    }
    if (this.here() === HASH) leaveToFullParser();
  }

  toNextLine(): void {
    this.toLineFrom(this.lineEndFrom(this.pos) + 1);
  }

  /** The first line from here that has more than blanks and a comment. */
  toLineFrom(from: number): void {
    let start = from;
    while (start < this.source.length) {
      this.lineStart = this.pos = start;
      this.skipSpaces();
      const char = this.here();
      if (char !== NEWLINE && char !== HASH && char !== END_OF_FILE) {
        this.column = this.pos - start;
        if (this.isDocumentMark()) leaveToFullParser();
        return;
      }
      start = this.lineEndFrom(this.pos) + 1;
    }
    this.pos = this.lineStart = this.source.length;
    this.column = END_OF_FILE;
  }

  lineEndFrom(pos: number): number {
    const end = this.source.indexOf("\n", pos);
    return end === -1 ? this.source.length : end;
  }

  private isDocumentMark(): boolean {
    if (this.pos !== this.lineStart) return false;
    return this.source.startsWith("---", this.pos) || this.source.startsWith("...", this.pos);
  }
}
