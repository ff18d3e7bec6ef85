import { isOneOfSeveral, type StepPlace, writtenStep } from "../../../../src/core/model/written-step.js";

/** What is told once: one job, or all that the file writes as one step with the kinds of failure among them, most frequent first. */
export interface Block<T> {
  readonly items: readonly T[];
  readonly kinds: readonly (readonly T[])[];
}

/** In the order in which the first job of each block stands. */
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
