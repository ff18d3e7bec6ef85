/** What can be reached from these along the edges, themselves included. */
export function closure(
  starts: readonly number[],
  edges: readonly (readonly number[])[],
  inside: (index: number) => boolean = () => true,
): Set<number> {
  const seen = new Set(starts);
  // A set is walked in order of insertion, what is added meanwhile included.
  for (const index of seen) for (const next of edges[index]!) if (inside(next)) seen.add(next);
  return seen;
}
