import { cutTo, padTo, textWidth } from "./text-width.js";

const GAP = "  ";
/** A narrower last column is useless. Its text then wraps instead. */
const MIN_LAST_WIDTH = 20;

/** Aligns rows of plain text. The last column is cut to the remaining width. */
export function tableLines(
  header: readonly string[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const all = [header, ...rows];
  const widths = header.map((_, column) =>
    all.reduce((most, row) => Math.max(most, textWidth(row[column] ?? "")), 0),
  );
  const before = widths.slice(0, -1).reduce((sum, each) => sum + each + GAP.length, 0);
  const last = width - before < MIN_LAST_WIDTH ? Number.POSITIVE_INFINITY : width - before;
  return all.map((row) =>
    header
      .map((_, column) => {
        const cell = row[column] ?? "";
        return column === header.length - 1 ? cutTo(cell, last) : padTo(cell, widths[column]!);
      })
      .join(GAP)
      .trimEnd(),
  );
}
