const MAX_SUGGESTED_LENGTH = 64;
const MAX_SHOWN_LENGTH = 80;
/** One edit turns a name as short as this into any other. */
const SHORT_NAME = 2;
/** Comparisons for all suggestions of one load: thousands of unknown names must not make it quadratic. */
const MAX_COMPARISONS = 200_000;

/** Finds the nearest known name for a misspelt one, as long as its budget of comparisons lasts. */
export class Suggester {
  private comparisonsLeft = MAX_COMPARISONS;

  nearest(name: string, known: Iterable<string>): string | null {
    if (name.length > MAX_SUGGESTED_LENGTH) return null;
    const wanted = fold(name);
    const tolerated = wanted.length <= SHORT_NAME ? 0 : Math.max(1, Math.floor(wanted.length / 3));
    let best: string | null = null;
    let bestDistance = tolerated + 1;
    for (const candidate of known) {
      if (this.comparisonsLeft-- <= 0) break;
      if (candidate === name || Math.abs(candidate.length - name.length) > bestDistance + 2) continue;
      const distance = editDistance(wanted, fold(candidate), bestDistance);
      if (distance < bestDistance) {
        best = candidate;
        bestDistance = distance;
      }
    }
    return best;
  }
}

/** ", did you mean `x`?" or nothing, for the end of a message. */
export function didYouMean(suggestion: string | null): string {
  return suggestion === null ? "" : `, did you mean ${quote(suggestion)}?`;
}

/** A name from a file as a message may show it: one line, no control characters, not too long. */
export function quote(name: string): string {
  const short = name.length > MAX_SHOWN_LENGTH ? `${name.slice(0, MAX_SHOWN_LENGTH)}…` : name;
  const clean = short.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "�");
  return `\`${clean}\``;
}

function fold(name: string): string {
  return name.toLowerCase().replace(/[-_. ]/g, "");
}

/** Edits (insert, delete, replace, swap of neighbours) between two names; stops early at `limit`. */
export function editDistance(a: string, b: string, limit = Number.POSITIVE_INFINITY): number {
  if (a.length > MAX_SUGGESTED_LENGTH || b.length > MAX_SUGGESTED_LENGTH) return Number.POSITIVE_INFINITY;
  if (Math.abs(a.length - b.length) >= limit) return limit;
  let beforeLast: number[] = [];
  let last = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    let rowBest = row;
    for (let column = 1; column <= b.length; column++) {
      const same = a[row - 1] === b[column - 1] ? 0 : 1;
      let cost = Math.min(last[column]! + 1, current[column - 1]! + 1, last[column - 1]! + same);
      const swapped = row > 1 && column > 1 && a[row - 1] === b[column - 2] && a[row - 2] === b[column - 1];
      if (swapped) cost = Math.min(cost, beforeLast[column - 2]! + 1);
      current.push(cost);
      if (cost < rowBest) rowBest = cost;
    }
    if (rowBest > limit) return limit;
    beforeLast = last;
    last = current;
  }
  return last[b.length]!;
}
