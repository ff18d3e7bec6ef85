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
    const { code, message, hint, path, inside } = finding;
    const at = inside === null ? finding.at : offsetInFile(this.text, inside.scalar, inside.offset);
    const { line, column } = this.positionOf(at);
    return { code, message, hint, file, line, column, path };
  }
}

/** Offsets at which lines begin. */
export function lineStartsOf(source: string): number[] {
  const starts = [0];
  for (let end = source.indexOf("\n"); end !== -1; end = source.indexOf("\n", end + 1)) starts.push(end + 1);
  return starts;
}
