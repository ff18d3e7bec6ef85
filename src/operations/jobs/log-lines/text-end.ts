import type { TextEnd } from "../../../tell/compare-texts.js";
import { withLines } from "./line-indexes.js";
import { NEWLINE, readAt } from "./line-pieces.js";

/** The last lines of a file, with their numbers in it. */
export interface FileEnd extends TextEnd {
  readonly total: number;
  readonly isWhole: boolean;
}

const EMPTY: FileEnd = { lines: [], firstLine: 1, total: 0, isWhole: true };

export async function readEnd(path: string, maxBytes: number): Promise<FileEnd> {
  for (;;) {
    const found = await withLines(path, async ({ file, size, facts }): Promise<FileEnd | null> => {
      // A very long file is read in parts, and only then are its lines counted.
      if (!facts.complete) return null;
      const from = Math.max(0, size - maxBytes);
      const bytes = await readAt(file, from, size - from);
      const begins = from === 0 ? 0 : bytes.indexOf(NEWLINE) + 1;
      const lines = bytes.toString("utf8", begins).split("\n");
      if (lines.at(-1) === "") lines.pop();
      return { lines, firstLine: facts.total - lines.length + 1, total: facts.total, isWhole: from === 0 };
    });
    if (found !== null) return found;
    if ((await withLines(path, async () => true)) === null) return EMPTY;
  }
}
