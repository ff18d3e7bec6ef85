import { plainText, stripAnsi } from "../../core/text/plain-text.js";

/** Scripts and symbols that take two columns. It covers step names and messages, not the whole Unicode table. */
const WIDE =
  /[\u1100-\u115f\u2e80-\u303e\u3041-\u33ff\u3400-\u4dbf\u4e00-\u9fff\ua000-\ua4cf\uac00-\ud7a3\uf900-\ufaff\ufe30-\ufe4f\uff00-\uff60\uffe0-\uffe6]|[\u{1f300}-\u{1faff}]|[\u{20000}-\u{3fffd}]/u;
const NO_WIDTH = /[\p{Mn}\p{Me}\p{Cf}]/u;
const ONLY_ASCII = /^[ -~]*$/;

/** The number of columns that a text takes on a terminal. */
export function textWidth(text: string): number {
  const shown = stripAnsi(text);
  if (ONLY_ASCII.test(shown)) return shown.length;
  let width = 0;
  for (const character of shown) width += characterWidth(character);
  return width;
}

function characterWidth(character: string): number {
  return WIDE.test(character) ? 2 : NO_WIDTH.test(character) ? 0 : 1;
}

/** A step's output as lines without anything that moves the cursor. Tabs and leading blanks become blanks. */
export function harmlessLines(text: string): string[] {
  return plainText(text.replace(/\r(?!\n)/g, ""))
    .split("\n")
    .map((line) => line.replace(/\t/g, "    "));
}

/** Cuts plain text to `width` columns, with an ellipsis if something was cut. */
export function cutTo(text: string, width: number): string {
  if (textWidth(text) <= width) return text;
  let kept = "";
  let used = 0;
  for (const character of text) {
    const next = characterWidth(character);
    if (used + next > width - 1) break;
    kept += character;
    used += next;
  }
  return width > 0 ? `${kept}…` : "";
}

export function padTo(text: string, width: number): string {
  return text + " ".repeat(Math.max(0, width - textWidth(text)));
}

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
