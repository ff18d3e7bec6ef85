import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { dependencyOrder } from "../../core/model/dependency-order.js";
import { answerAncestors } from "./graph-walks.js";

/** The plain definition: follow dependencies until nothing new comes. */
function ancestorsOf(dependencies: readonly (readonly number[])[], start: number): Set<number> {
  const found = new Set<number>();
  const open = [...dependencies[start]!];
  for (const index of open) {
    if (found.has(index)) continue;
    found.add(index);
    open.push(...dependencies[index]!);
  }
  return found;
}

const graphs = fc
  .array(fc.array(fc.nat(1_000), { maxLength: 3 }), { minLength: 1, maxLength: 80 })
  .map((choices) =>
    // Each step depends on earlier ones only, listed in reverse so that file order is not the order of execution.
    choices
      .map((names, index) => ({
        id: `s${index}`,
        dependsOn: index === 0 ? [] : names.map((name) => [`s${name % index}`]),
      }))
      .reverse(),
  );

describe("answerAncestors", () => {
  it("agrees with a plain search for every pair of any graph", () => {
    fc.assert(
      fc.property(graphs, (steps) => {
        const graph = dependencyOrder(steps);
        const pairs = steps.flatMap((_, ancestor) =>
          steps.map((__, descendant) => ({ ancestor, descendant })),
        );
        const expected = pairs.map(({ ancestor, descendant }) =>
          ancestorsOf(graph.dependencies, descendant).has(ancestor),
        );
        expect(answerAncestors(graph, pairs).answers).toEqual(expected);
      }),
      { numRuns: 60 },
    );
  });

  it("asks at most one sweep for 32 targets where the forest does not help", () => {
    const size = 640;
    // Two interleaved chains joined at every step: half of the pairs lie outside the spanning forest.
    const steps = Array.from({ length: size }, (_, i) => ({
      id: `s${i}`,
      dependsOn: i < 2 ? [] : [[`s${i - 2}`], ...(i % 2 ? [[`s${i - 1}`]] : [])],
    }));
    const graph = dependencyOrder(steps);
    const edges = graph.dependencies.flat().length;
    const questions = steps.map((_, ancestor) => ({ ancestor, descendant: size - 1 }));
    const { answers, work } = answerAncestors(graph, questions);
    expect(answers.slice(0, size - 1).every(Boolean)).toBe(true);
    expect(work).toBeLessThanOrEqual(size + edges * Math.ceil(size / 32));
  });

  it("says no for steps in a circle", () => {
    const graph = dependencyOrder([
      { id: "a", dependsOn: [["b"]] },
      { id: "b", dependsOn: [["a"]] },
    ]);
    expect(answerAncestors(graph, [{ ancestor: 0, descendant: 1 }]).answers).toEqual([false]);
  });
});
