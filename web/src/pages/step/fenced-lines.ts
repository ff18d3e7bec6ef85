const BEGIN = /^<<<BEGIN ([0-9a-f]{16})>>>$/;

/** The lines of a prompt that are data: those between two fences with the same number, and the fences themselves. */
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
