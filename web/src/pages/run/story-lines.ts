import { isOneOfSeveral, type StepPlace, writtenStep } from "../../../../src/core/model/written-step.js";
import type { Drawing, TimelineRow, Told } from "./run-data.js";

/** A recovery, or the steps that completed without one between two recoveries. */
type StoryLine =
  | { readonly kind: "recovery"; readonly recovery: Told }
  | { readonly kind: "straight"; readonly steps: readonly string[]; readonly seq: number };

/** The lines of the story in the order of the log. */
export function storyLines(
  recoveries: readonly Told[],
  rows: readonly TimelineRow[],
  until: number | null,
): StoryLine[] {
  // A repair step is part of the story of the step that it repaired.
  const told = new Set(
    recoveries.flatMap(({ step, rung, to }) => (rung === "remediate" ? [step, ...to.split(", ")] : [step])),
  );
  const done = rows
    .filter(({ step, failed }) => !told.has(step) && failed === 0)
    .flatMap((row) => {
      const end =
        row.jobs > 1
          ? row.seq
          : (row.spans.findLast(({ outcome }) => outcome === "completed")?.end_seq ?? null);
      const isOver = row.to_ms !== null && end !== null && (until === null || end <= until);
      return isOver ? [{ step: row.step, seq: end }] : [];
    })
    .sort((one, other) => one.seq - other.seq);
  const lines: StoryLine[] = [];
  let next = 0;
  const straight = (before: number): void => {
    const steps: string[] = [];
    const seq = done[next]?.seq ?? 0;
    while (next < done.length && done[next]!.seq < before) {
      steps.push(done[next]!.step);
      next += 1;
    }
    if (steps.length > 0) lines.push({ kind: "straight", steps, seq });
  };
  for (const recovery of recoveries) {
    straight(recovery.first_seq);
    lines.push({ kind: "recovery", recovery });
  }
  straight(Number.POSITIVE_INFINITY);
  return lines;
}

const MAX_NAMES = 12;

/** A text such as "a, b and 3 more completed." */
export function stepsText(steps: readonly string[], did: string): string {
  const names = steps.slice(0, MAX_NAMES).join(", ");
  const more = steps.length - MAX_NAMES;
  return `${names}${more > 0 ? ` and ${more} more` : ""} ${did}.`;
}

/** Steps that never began and never will, with the reason for each. */
export function neverBegun({ nodes }: Pick<Drawing, "nodes">): string[] {
  return (["skipped", "canceled"] as const).flatMap((became) => {
    const steps = nodes.flatMap(({ step, status, jobs }) =>
      step !== null && status === became && (jobs?.attempts ?? 0) === 0 ? [step] : [],
    );
    return steps.length === 0 ? [] : [stepsText(steps, `${steps.length === 1 ? "was" : "were"} ${became}`)];
  });
}

/**
 * Jobs that are described together: a single job, or all jobs of one step in the file, with their kinds of failure, the
 * most frequent first.
 */
interface Block<T> {
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
