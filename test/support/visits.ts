/** A visit ends with the run list that asked for it, or is put off if its job begins anew. */
export function forgetVisits(visitedFor: Map<number, number>, members: readonly number[]): void {
  for (const [job, by] of [...visitedFor])
    if (members.includes(job) || members.includes(by)) visitedFor.delete(job);
}
