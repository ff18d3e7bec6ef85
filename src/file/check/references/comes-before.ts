import { dependencyOrder } from "../../../core/model/dependency-order.js";
import { answerAncestors } from "../ancestors.js";
import { findKnots } from "../circles.js";
import type { StepGraph } from "../step-graph.js";

/** One step leads to another other than by a dependency. */
export interface Lead {
  readonly kind: "run" | "goto" | "edge";
  readonly from: number;
  readonly to: number;
}

export interface BeforeQuestion {
  readonly first: number;
  readonly second: number;
}

/**
 * Whether a step may have run before another: the other depends on it, or is led to by a step behind it, through any
 * number of run lists and transitions. A run list also comes before what its step does next. A goto only brings along
 * what its own step has behind it.
 */
export function answerBefore(
  { order }: Pick<StepGraph, "order">,
  leads: readonly Lead[],
  questions: readonly BeforeQuestion[],
): boolean[] {
  const before: Set<number>[] = order.dependencies.map((dependencies) => new Set(dependencies));
  /** For each target of a goto, a separate point behind all steps that go back to it. */
  const returns = new Map<number, number>();
  for (const { kind, from, to } of leads) {
    if (kind === "goto") {
      if (!returns.has(to)) returns.set(to, before.push(new Set()) - 1);
      before[returns.get(to)!]!.add(from);
    } else before[to]!.add(from);
    if (kind === "run") before[from]!.add(to);
  }
  const { order: knotted, knotOf } = tieKnots(before.map((found) => [...found]));
  const ask = (pairs: readonly { readonly first: number; readonly second: number | undefined }[]) => {
    const asked = pairs.map(({ first, second }) => ({
      ancestor: knotOf[first]!,
      descendant: second === undefined ? NOBODY : knotOf[second]!,
    }));
    const { answers } = answerAncestors(
      knotted,
      asked.filter(({ descendant }) => descendant !== NOBODY),
    );
    let next = 0;
    return asked.map(({ ancestor, descendant }) =>
      descendant === NOBODY ? false : answers[next++]! || ancestor === descendant,
    );
  };
  const directly = ask(questions);
  const onReturn = ask(questions.map(({ first, second }) => ({ first, second: returns.get(second) })));
  // What depends on the target of a goto loses its output by it.
  const lost = ask(questions.map(({ first, second }) => ({ first: second, second: first })));
  return questions.map((_, at) => directly[at]! || (onReturn[at]! && !lost[at]!));
}

const NOBODY = -1;

/** The graph with every circle of it drawn together into one point. */
function tieKnots(before: readonly (readonly number[])[]) {
  const knotOf = before.map((_, index) => index);
  for (const knot of findKnots(before)) for (const member of knot) knotOf[member] = knot[0]!;
  const needs: Set<string>[] = before.map(() => new Set());
  before.forEach((found, index) => {
    for (const earlier of found)
      if (knotOf[earlier] !== knotOf[index]) needs[knotOf[index]!]!.add(String(knotOf[earlier]));
  });
  const order = dependencyOrder(
    needs.map((found, index) => ({ id: String(index), dependsOn: [[...found]] })),
  );
  return { order, knotOf };
}
