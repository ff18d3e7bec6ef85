import type { HoldItem } from "./status.js";

/** What waits for a decision, once for all runs with the same cause. */
export interface Problem {
  readonly key: string;
  readonly workflow: string;
  readonly step: string;
  readonly kind: HoldItem["kind"];
  /** Newest first. */
  readonly items: readonly HoldItem[];
  readonly firstAt: string;
  readonly lastAt: string;
}

/** Most runs first; of as many, the newest. */
export function problemsOf(holds: readonly HoldItem[]): Problem[] {
  const groups = new Map<string, HoldItem[]>();
  for (const hold of holds) {
    const cause =
      hold.kind === "question" ? `question ${hold.id}` : (hold.error?.signature ?? `job ${hold.id}`);
    const key = JSON.stringify([hold.workflow, hold.step, hold.kind, hold.dead_letter, cause]);
    groups.set(key, [...(groups.get(key) ?? []), hold]);
  }
  return [...groups]
    .map(([key, group]) => {
      const items = group.sort((one, other) => other.run_id - one.run_id);
      const times = items.map(({ since }) => since).sort();
      const { workflow, step, kind } = items[0]!;
      return { key, workflow, step, kind, items, firstAt: times[0]!, lastAt: times.at(-1)! };
    })
    .sort((one, other) => other.items.length - one.items.length || other.lastAt.localeCompare(one.lastAt));
}

export function runsOf({ items }: Problem): number[] {
  return [...new Set(items.map(({ run_id }) => run_id))];
}
