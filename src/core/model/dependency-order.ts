import { added, NONE } from "./sparse-lists.js";

/** What is needed of a step to order it. */
export interface OrderedStep {
  readonly id: string;
  readonly dependsOn: readonly (readonly string[])[];
}

/** Steps by their place in the list. Names that no step has are left out; a name given twice counts once. */
export interface DependencyOrder {
  readonly dependencies: readonly (readonly number[])[];
  readonly dependents: readonly (readonly number[])[];
  /** Every step after all that it depends on; those in or behind a circle are missing. */
  readonly order: readonly number[];
}

/** One pass over steps and dependencies; no recursion, so that a chain may be as long as it likes. */
export function dependencyOrder(steps: readonly OrderedStep[]): DependencyOrder {
  const indexOf = new Map(steps.map((step, index) => [step.id, index]));
  const dependencies = steps.map((step): readonly number[] => {
    if (step.dependsOn.length === 0) return NONE;
    const found = new Set<number>();
    for (const group of step.dependsOn) {
      for (const id of group) {
        const index = indexOf.get(id);
        if (index !== undefined) found.add(index);
      }
    }
    return [...found];
  });
  const dependents: (readonly number[])[] = steps.map(() => NONE);
  for (const [index, found] of dependencies.entries())
    for (const dependency of found) dependents[dependency] = added(dependents[dependency]!, index);
  const missing = dependencies.map((found) => found.length);
  const order = [...steps.keys()].filter((index) => missing[index] === 0);
  for (const index of order) {
    for (const dependent of dependents[index]!) {
      missing[dependent]!--;
      if (missing[dependent] === 0) order.push(dependent);
    }
  }
  return { dependencies, dependents, order };
}
