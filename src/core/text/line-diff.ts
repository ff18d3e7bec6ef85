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

/** The lines of both texts in order, each once where they are the same; with few changes, the fewest possible. */
export function diffLines(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)];
  let start = 0;
  while (start < old.length && start < now.length && old[start] === now[start]) start++;
  let same = 0;
  while (
    same < old.length - start &&
    same < now.length - start &&
    old[old.length - 1 - same] === now[now.length - 1 - same]
  )
    same++;
  const [oldEnd, nowEnd] = [old.length - same, now.length - same];
  const lines: DiffLine[] = old.slice(0, start).map((text, at) => both(at, at, text));
  const pairs = pairsOf(old.slice(start, oldEnd), now.slice(start, nowEnd));
  let [x, y] = [start, start];
  for (const [left, right] of [...pairs, [oldEnd - start, nowEnd - start] as const]) {
    for (; x < start + left; x++) lines.push({ kind: "removed", before: x + 1, after: null, text: old[x]! });
    for (; y < start + right; y++) lines.push({ kind: "added", before: null, after: y + 1, text: now[y]! });
    if (x < oldEnd && y < nowEnd) lines.push(both(x++, y++, old[left + start]!));
  }
  for (let at = 0; at < same; at++) lines.push(both(oldEnd + at, nowEnd + at, old[oldEnd + at]!));
  return lines;
}

function both(before: number, after: number, text: string): DiffLine {
  return { kind: "same", before: before + 1, after: after + 1, text };
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Places of the lines that both have, in order (Myers, O(ND)). */
function pairsOf(old: readonly string[], now: readonly string[]): (readonly [number, number])[] {
  const trace: Map<number, number>[] = [];
  let furthest = new Map<number, number>([[1, 0]]);
  const limit = Math.min(old.length + now.length, MAX_DIFFERENCES);
  for (let differences = 0; differences <= limit; differences++) {
    trace.push(new Map(furthest));
    const next = new Map(furthest);
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const [left, right] = [next.get(diagonal - 1) ?? -1, next.get(diagonal + 1) ?? -1];
      const isDown = diagonal === -differences || (diagonal !== differences && left < right);
      let x = isDown ? right : left + 1;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++;
      next.set(diagonal, x);
      if (x >= old.length && x - diagonal >= now.length) return walkBack(trace, old.length, now.length);
    }
    furthest = next;
  }
  return [];
}

function walkBack(
  trace: readonly Map<number, number>[],
  oldEnd: number,
  nowEnd: number,
): (readonly [number, number])[] {
  const pairs: (readonly [number, number])[] = [];
  let [x, y] = [oldEnd, nowEnd];
  for (let differences = trace.length - 1; differences >= 0; differences--) {
    const furthest = trace[differences]!;
    const diagonal = x - y;
    const [left, right] = [furthest.get(diagonal - 1) ?? -1, furthest.get(diagonal + 1) ?? -1];
    const isDown = diagonal === -differences || (diagonal !== differences && left < right);
    const from = isDown ? diagonal + 1 : diagonal - 1;
    const fromX = differences === 0 ? 0 : (furthest.get(from) ?? 0);
    const fromY = differences === 0 ? 0 : fromX - from;
    while (x > fromX && y > fromY) pairs.push([--x, --y]);
    [x, y] = [fromX, fromY];
  }
  return pairs.reverse();
}
