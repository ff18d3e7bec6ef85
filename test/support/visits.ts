/** The steps that the run lists of these jobs are at, and those that their own lists are at. */
export function visitsFor(visitedFor: ReadonlyMap<number, number>, jobs: readonly number[]): number[] {
  const swept = new Set(jobs);
  for (const job of swept) for (const [visited, by] of visitedFor) if (by === job) swept.add(visited);
  return [...swept].slice(jobs.length);
}

/** A visit ends with the run list that asked for it, or is put off if its job begins anew. */
export function forgetVisits(visitedFor: Map<number, number>, members: readonly number[]): void {
  for (const job of [...members, ...visitsFor(visitedFor, members)]) visitedFor.delete(job);
}
