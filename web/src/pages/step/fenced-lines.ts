const BEGIN = /^<<<BEGIN ([0-9a-f]{16})>>>$/;

/** Which lines of a text that was handed on are data: those between two fences with the same number, and the fences. */
export function fencedLines(text: string): ReadonlySet<number> {
  const found = new Set<number>();
  let fence: string | null = null;
  for (const [place, line] of text.split("\n").entries()) {
    fence ??= BEGIN.exec(line)?.[1] ?? null;
    if (fence === null) continue;
    found.add(place);
    if (line === `<<<END ${fence}>>>`) fence = null;
  }
  return found;
}
