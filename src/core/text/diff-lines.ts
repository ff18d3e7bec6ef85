/** A line's number in one text, in the other, or in both. */
export interface LinePair {
  readonly one: number | null;
  readonly other: number | null;
}

const WORDS = /\s+|[\w.:-]+|[^\s\w.:-]+/g;

/** A line as words, blanks and signs, to be compared like lines of a text. */
export function wordsOf(line: string): string[] {
  return line.match(WORDS) ?? [];
}

/** With more differences, the texts have too little in common to be worth the search. */
const MAX_EDITS = 1_000;

/**
 * The shortest way from one list of lines to the other, after Myers. Lines that are the same at both ends are set aside
 * first. Time and memory are bounded: what has too many differences counts as removed and added as a whole.
 */
export function diffLines(
  one: readonly string[],
  other: readonly string[],
  maxEdits = MAX_EDITS,
): LinePair[] {
  const most = Math.min(one.length, other.length);
  let start = 0;
  while (start < most && one[start] === other[start]) start += 1;
  let end = 0;
  while (end < most - start && one[one.length - 1 - end] === other[other.length - 1 - end]) end += 1;
  const both = (count: number, onePlace: number, otherPlace: number): LinePair[] =>
    Array.from({ length: count }, (_, place) => ({ one: onePlace + place, other: otherPlace + place }));
  const middle = diffMiddle(
    one.slice(start, one.length - end),
    other.slice(start, other.length - end),
    maxEdits,
  );
  return [
    ...both(start, 0, 0),
    ...middle.map((pair) => ({
      one: pair.one === null ? null : pair.one + start,
      other: pair.other === null ? null : pair.other + start,
    })),
    ...both(end, one.length - end, other.length - end),
  ];
}

function diffMiddle(one: readonly string[], other: readonly string[], maxEdits: number): LinePair[] {
  const trace = searchPath(one, other, maxEdits);
  if (trace === null)
    return [...one.map((_, place) => removed(place)), ...other.map((_, place) => added(place))];
  return followBack(trace, one.length, other.length);
}

const removed = (one: number): LinePair => ({ one, other: null });
const added = (other: number): LinePair => ({ one: null, other });

/** How far each diagonal was reached, one list for each number of edits; null: it takes too many. */
function searchPath(
  one: readonly string[],
  other: readonly string[],
  maxEdits: number,
): readonly Int32Array[] | null {
  const limit = Math.min(one.length + other.length, maxEdits);
  let reached = new Int32Array(3);
  const trace: Int32Array[] = [];
  for (let edits = 0; edits <= limit; edits += 1) {
    // Diagonal k lies at k + edits + 1; there is one more at each side.
    const next = new Int32Array(2 * edits + 3);
    for (let diagonal = -edits; diagonal <= edits; diagonal += 2) {
      let x = firstStep(reached, edits, diagonal);
      while (x < one.length && x - diagonal < other.length && one[x] === other[x - diagonal]) x += 1;
      next[diagonal + edits + 1] = x;
      if (x >= one.length && x - diagonal >= other.length) return [...trace, next];
    }
    trace.push(next);
    reached = next;
  }
  return null;
}

/** From the better neighbour among those reached with one edit less. */
function firstStep(reached: Int32Array, edits: number, diagonal: number): number {
  if (edits === 0) return 0;
  const at = (neighbour: number): number => reached[neighbour + edits] ?? 0;
  return isDown(reached, edits, diagonal) ? at(diagonal + 1) : at(diagonal - 1) + 1;
}

function isDown(reached: Int32Array, edits: number, diagonal: number): boolean {
  if (diagonal === -edits) return true;
  if (diagonal === edits) return false;
  return (reached[diagonal - 1 + edits] ?? 0) < (reached[diagonal + 1 + edits] ?? 0);
}

function followBack(trace: readonly Int32Array[], oneLength: number, otherLength: number): LinePair[] {
  const pairs: LinePair[] = [];
  let x = oneLength;
  let y = otherLength;
  for (let edits = trace.length - 1; edits > 0; edits -= 1) {
    const reached = trace[edits - 1]!;
    const diagonal = x - y;
    const down = isDown(reached, edits, diagonal);
    const from = down ? diagonal + 1 : diagonal - 1;
    const fromX = reached[from + edits] ?? 0;
    const fromY = fromX - from;
    while (x > fromX + (down ? 0 : 1) && y > fromY + (down ? 1 : 0)) pairs.push({ one: --x, other: --y });
    pairs.push(down ? added(--y) : removed(--x));
  }
  while (x > 0) pairs.push({ one: --x, other: --y });
  return pairs.reverse();
}

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
