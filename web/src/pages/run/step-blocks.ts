import { isOneOfSeveral, type StepPlace, writtenStep } from "../../../../src/core/model/written-step.js";

/**
 * Jobs that are described together: a single job, or all jobs of one step in the file, with their kinds of failure, the
 * most frequent first.
 */
export interface Block<T> {
  readonly items: readonly T[];
  readonly kinds: readonly (readonly T[])[];
}

/** Groups jobs into blocks, in the order of each block's first job. */
export function stepBlocks<T extends StepPlace>(
  jobs: readonly T[],
  likeness: (job: T) => string,
): Block<T>[] {
  const blocks = groupBy(jobs, (job, place) => (isOneOfSeveral(job) ? `of ${writtenStep(job)}` : `${place}`));
  return blocks.map((items) => ({
    items,
    kinds: groupBy(items, likeness).sort((one, other) => other.length - one.length),
  }));
}

function groupBy<T>(items: readonly T[], keyOf: (item: T, place: number) => string): T[][] {
  const groups = new Map<string, T[]>();
  for (const [place, item] of items.entries()) {
    const key = keyOf(item, place);
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()];
}
