import { editFor, type Fix, type Mending } from "./fix.js";
import type { Finding, Problem } from "./problem.js";
import { offsetInFile } from "./scalar-place.js";

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

  toProblem(finding: Finding, file: string): Problem {
    const { code, message, hint, path, inside, mending } = finding;
    const at = inside === null ? finding.at : offsetInFile(this.text, inside.scalar, inside.offset);
    const { line, column } = this.positionOf(at);
    const fix = mending === undefined ? null : this.fixOf(at, mending);
    return { code, message, hint, file, line, column, path, ...(fix === null ? {} : { fix }) };
  }

  private fixOf(at: number, mending: Mending): Fix | null {
    const edit = editFor(this.text, at, mending);
    if (edit === null) return null;
    const [start, end] = [this.positionOf(edit.from), this.positionOf(edit.to)];
    return {
      words: mending.words,
      ...start,
      end_line: end.line,
      end_column: end.column,
      text: edit.text,
    };
  }
}

/** Offsets at which lines begin. */
export function lineStartsOf(source: string): number[] {
  const starts = [0];
  for (let end = source.indexOf("\n"); end !== -1; end = source.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}
