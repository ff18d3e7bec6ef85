import { diffLines } from "./diff-lines.js";

/** One line of two texts beside each other; a number is null where the text does not have the line. */
export interface DiffLine {
  readonly kind: "same" | "removed" | "added";
  /** From 1. */
  readonly before: number | null;
  readonly after: number | null;
  readonly text: string;
}

/** More differences than these are not looked for one by one: what lies between is given as removed and added. */
const MAX_DIFFERENCES = 400;

/** The lines of both texts in order, each once where they are the same; of a change, what was there comes first. */
export function diffTexts(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  const lines: DiffLine[] = [];
  let added: DiffLine[] = [];
  for (const { one, other } of diffLines(old, now, MAX_DIFFERENCES)) {
    const [was, is] = [one === null ? null : one + 1, other === null ? null : other + 1];
    if (one === null) added.push({ kind: "added", before: null, after: is, text: now[other!]! });
    else if (other === null) lines.push({ kind: "removed", before: was, after: null, text: old[one]! });
    else {
      lines.push(...added, { kind: "same", before: was, after: is, text: old[one]! });
      added = [];
    }
  }
  return [...lines, ...added];
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}
