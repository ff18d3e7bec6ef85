interface Item {
  readonly step: string;
  readonly scope: string;
}

/** What is told once: one job, or all items of a fan-out step with the kinds of failure among them, most frequent first. */
export interface Block<T> {
  readonly items: readonly T[];
  readonly kinds: readonly (readonly T[])[];
}

/** In the order in which the first job of each block stands. */
export function fanOutBlocks<T extends Item>(jobs: readonly T[], likeness: (job: T) => string): Block<T>[] {
  const blocks = groupBy(jobs, ({ step, scope }, place) => (scope === "root" ? `${place}` : `of ${step}`));
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
