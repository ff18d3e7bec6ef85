import { dependencyOrder, type OrderedStep } from "./dependency-order.js";

/** Fan-outs inside one another; keeps every path short, so that the work stays linear. */
export const MAX_FAN_OUT_DEPTH = 16;

export interface FanStep extends OrderedStep {
  readonly forEach: boolean;
  readonly reduce: boolean;
}

export type FanProblem =
  /** Two dependencies lie under fan-outs of which neither contains the other. */
  | {
      readonly kind: "crossed";
      readonly step: string;
      readonly first: readonly string[];
      readonly second: readonly string[];
    }
  | { readonly kind: "nothing_to_reduce"; readonly step: string }
  | { readonly kind: "too_deep"; readonly step: string };

export interface FanPaths {
  /** By step: the forEach steps whose fan-outs enclose it, outermost first. */
  readonly paths: ReadonlyMap<string, readonly string[]>;
  readonly problems: readonly FanProblem[];
}

const OUTSIDE: readonly string[] = Object.freeze([]);

/**
 * A step lies where its deepest dependency does; a forEach step adds itself for its dependents, a reducer leaves the
 * innermost fan-out. Steps in a circle count as outside.
 */
export function fanPaths(steps: readonly FanStep[]): FanPaths {
  const { dependencies, order } = dependencyOrder(steps);
  const problems: FanProblem[] = [];
  const paths: (readonly string[])[] = steps.map(() => OUTSIDE);
  /** The path of a step's dependents; shared, so that equal paths are mostly the same array. */
  const innerPaths: (readonly string[])[] = steps.map(() => OUTSIDE);
  for (const index of order) {
    const step = steps[index]!;
    let deepest = OUTSIDE;
    for (const dependency of dependencies[index]!) {
      const path = innerPaths[dependency]!;
      if (path.length > deepest.length) deepest = path;
    }
    const stray = dependencies[index]!.find((dependency) => !isPrefix(innerPaths[dependency]!, deepest));
    if (stray !== undefined)
      problems.push({ kind: "crossed", step: step.id, first: deepest, second: innerPaths[stray]! });
    if (step.reduce && deepest.length === 0) problems.push({ kind: "nothing_to_reduce", step: step.id });
    const path = step.reduce ? deepest.slice(0, -1) : deepest;
    paths[index] = path;
    innerPaths[index] = path;
    if (!step.forEach) continue;
    if (path.length >= MAX_FAN_OUT_DEPTH) problems.push({ kind: "too_deep", step: step.id });
    else innerPaths[index] = [...path, step.id];
  }
  return { paths: new Map(steps.map((step, index) => [step.id, paths[index]!])), problems };
}

/** Whether `inner` is `outer` or lies within it. */
export function isPrefix(outer: readonly string[], inner: readonly string[]): boolean {
  return outer === inner || (outer.length <= inner.length && outer.every((id, depth) => inner[depth] === id));
}

export function isSamePath(first: readonly string[], second: readonly string[]): boolean {
  return first.length === second.length && isPrefix(first, second);
}
