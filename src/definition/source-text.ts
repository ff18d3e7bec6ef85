import type { Finding, InsideScalar, Problem } from "./problem.js";

export interface Position {
  readonly line: number;
  readonly column: number;
}

const FILE_START: Position = { line: 1, column: 1 };

/** Turns offsets into lines and columns, both from 1. */
export class SourceText {
  constructor(
    private readonly text: string,
    private readonly lineStarts: readonly number[],
  ) {}

  positionOf(offset: number): Position {
    if (offset < 0 || this.lineStarts.length === 0) return FILE_START;
    let low = 0;
    let high = this.lineStarts.length - 1;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.lineStarts[middle]! <= offset) low = middle;
      else high = middle - 1;
    }
    return { line: low + 1, column: offset - this.lineStarts[low]! + 1 };
  }

  /** A place within a scalar. Exact for one-line and `|` text; folded text points at its start. */
  positionInside({ scalar, line, column }: InsideScalar): Position {
    const start = this.positionOf(scalar.at);
    if (scalar.style === "literal") {
      const fileLine = start.line + line;
      return { line: fileLine, column: this.literalIndent(start.line) + column };
    }
    if (scalar.style === "folded" || line > 1) return start;
    return { line: start.line, column: start.column + column - 1 + (scalar.style === "quoted" ? 1 : 0) };
  }

  toProblem(finding: Finding, file: string): Problem {
    const { code, message, hint, path, inside } = finding;
    const { line, column } = inside === null ? this.positionOf(finding.at) : this.positionInside(inside);
    return { code, message, hint, file, line, column, path };
  }

  /** Blanks before the first line of a `|` text that has any words. */
  private literalIndent(headerLine: number): number {
    for (let line = headerLine; line < this.lineStarts.length; line++) {
      const start = this.lineStarts[line]!;
      let offset = start;
      while (this.text[offset] === " ") offset++;
      if (offset < this.text.length && this.text[offset] !== "\n" && this.text[offset] !== "\r")
        return offset - start;
    }
    return 0;
  }
}
