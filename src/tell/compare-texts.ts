import { maskVolatile } from "../core/failure/mask-volatile.js";
import { diffLines, type LinePair, wordsOf } from "../core/text/diff-lines.js";
import { firstChars } from "../core/text/head-tail.js";
import { plainText } from "../core/text/plain-text.js";
import { just, list, number, type Of, object, one, optional, text } from "../core/text/shape.js";

/** The end of a text, as far as it is compared. */
export interface TextEnd {
  readonly lines: readonly string[];
  /** The number of the first of them in the whole text. */
  readonly firstLine: number;
}

/** A line of both texts; `other`, in a part of one, is what stands there in the other text. `skipped` are lines that are the same but for times and ids. */
export const DIFF_ROW = one(
  "kind",
  object({ kind: just("same"), line: number, other_line: number, text }),
  object({
    kind: just("masked"),
    line: number,
    other_line: number,
    parts: list(object({ text, other: optional(text) })),
  }),
  object({ kind: just("added"), line: number, text }),
  object({ kind: just("removed"), other_line: number, text }),
  object({ kind: just("skipped"), count: number }),
);
export type DiffRow = Of<typeof DIFF_ROW>;
type MaskedPart = Extract<DiffRow, { kind: "masked" }>["parts"][number];

/** `masked`: only times, ids and the like differ. */
export const VERDICTS = ["same", "masked", "differs"] as const;
export type Verdict = (typeof VERDICTS)[number];

export interface ComparedText {
  readonly verdict: Verdict;
  /** Lines that only one of them has. */
  readonly changed: number;
  readonly rows: readonly DiffRow[];
  readonly left_off: number;
}

const MAX_LINE_CHARS = 2_000;
const MAX_ROWS = 1_000;
const CONTEXT_LINES = 3;
const MAX_MASKED_ROWS = 6;

/** What differs between two texts, from the other to the one; times and ids are no difference. */
export function compareTexts(one: TextEnd, other: TextEnd): ComparedText {
  const [texts, others] = [shortLines(one), shortLines(other)];
  const [masks, otherMasks] = [texts.map(maskVolatile), others.map(maskVolatile)];
  const pairs = diffLines(otherMasks, masks).map(({ one: before, other: after }) => ({
    one: after,
    other: before,
  }));
  const isChange = ({ one: after, other: before }: LinePair): boolean => after === null || before === null;
  const isMasked = (pair: LinePair): boolean => !isChange(pair) && texts[pair.one!] !== others[pair.other!];
  const shown = chooseShown(pairs, isChange, isMasked);
  const rows: DiffRow[] = [];
  let skipped = 0;
  for (const [place, pair] of pairs.entries()) {
    if (!shown.has(place)) {
      skipped += 1;
      continue;
    }
    if (skipped > 0) rows.push({ kind: "skipped", count: skipped });
    skipped = 0;
    rows.push(rowOf(pair, { texts, others, one, other }));
  }
  if (skipped > 0) rows.push({ kind: "skipped", count: skipped });
  const changed = pairs.filter(isChange).length;
  return {
    verdict: changed > 0 ? "differs" : pairs.some(isMasked) ? "masked" : "same",
    changed,
    rows: rows.slice(0, MAX_ROWS),
    left_off: Math.max(0, rows.length - MAX_ROWS),
  };
}

function shortLines({ lines }: TextEnd): string[] {
  return lines.map((line) => firstChars(plainText(line).replaceAll("\n", " "), MAX_LINE_CHARS));
}

function chooseShown(
  pairs: readonly LinePair[],
  isChange: (pair: LinePair) => boolean,
  isMasked: (pair: LinePair) => boolean,
): ReadonlySet<number> {
  const shown = new Set<number>();
  let masked = 0;
  for (const [place, pair] of pairs.entries()) {
    if (isChange(pair))
      for (let near = place - CONTEXT_LINES; near <= place + CONTEXT_LINES; near += 1) shown.add(near);
    else if (isMasked(pair) && masked < MAX_MASKED_ROWS) {
      shown.add(place);
      masked += 1;
    }
  }
  return shown;
}

interface Sides {
  readonly texts: readonly string[];
  readonly others: readonly string[];
  readonly one: TextEnd;
  readonly other: TextEnd;
}

function rowOf({ one: after, other: before }: LinePair, { texts, others, one, other }: Sides): DiffRow {
  if (after === null)
    return { kind: "removed", other_line: other.firstLine + before!, text: others[before!]! };
  const line = one.firstLine + after;
  const text = texts[after]!;
  if (before === null) return { kind: "added", line, text };
  const other_line = other.firstLine + before;
  if (text === others[before]) return { kind: "same", line, other_line, text };
  return { kind: "masked", line, other_line, parts: maskedParts(text, others[before]!) };
}

/** Two lines that differ only in what is masked, word by word. */
export function maskedParts(text: string, other: string): MaskedPart[] {
  const [words, others] = [wordsOf(text), wordsOf(other)];
  const parts: { text: string; other?: string }[] = [];
  for (const pair of diffLines(others, words)) {
    const isSame = pair.one !== null && pair.other !== null;
    const last = parts.at(-1);
    const part = last !== undefined && (last.other === undefined) === isSame ? last : null;
    const current = part ?? (isSame ? { text: "" } : { text: "", other: "" });
    if (part === null) parts.push(current);
    if (pair.other !== null) current.text += words[pair.other];
    if (!isSame && pair.one !== null) current.other += others[pair.one]!;
  }
  return parts;
}
