import { describe, expect, it } from "vitest";
import { dependencyOrder } from "../../../core/model/dependency-order.js";
import { answerBefore, type Lead } from "./check-references.js";

/** `a<b` is a dependency of b on a; `a-run>b`, `a-goto>b`, `a-edge>b` lead there. Answers with the pairs that hold. */
function pairsOf(graph: string): string[] {
  const words = graph.split(" ");
  const ids = [...new Set(words.flatMap((word) => word.split(/<|-\w+>/)))].sort();
  const steps = ids.map((id) => ({
    id,
    dependsOn: words.flatMap((word) => {
      const [first, then] = word.split("<");
      return then === id && first !== undefined ? [[first]] : [];
    }),
  }));
  const leads = words.flatMap((word): Lead[] => {
    const [, from, kind, to] = /^(\w+)-(run|goto|edge)>(\w+)$/.exec(word) ?? [];
    if (from === undefined || to === undefined) return [];
    return [{ kind: kind as Lead["kind"], from: ids.indexOf(from), to: ids.indexOf(to) }];
  });
  const questions = ids.flatMap((_, first) => ids.map((__, second) => ({ first, second })));
  const answers = answerBefore({ order: dependencyOrder(steps) }, leads, questions);
  return questions.flatMap(({ first, second }, at) =>
    first !== second && answers[at] ? [`${ids[first]}${ids[second]}`] : [],
  );
}

describe("what may have run before a step", () => {
  it.each<[string, string, string[]]>([
    ["its ancestors", "a<b b<c", ["ab", "ac", "bc"]],
    ["not what merely has a common ancestor", "a<b a<c", ["ab", "ac"]],
    [
      "who has it in a run list, with all before it, and the other way round",
      "a<b b-run>x",
      ["ab", "ax", "bx", "xb"],
    ],
    ["what a run list of its ancestor ran", "a<b a-run>x", ["ab", "ax", "xa", "xb"]],
    ["who has an edge to it, with all before it", "a<b b-edge>x", ["ab", "ax", "bx"]],
    ["a chain of edges", "a<b b-edge>x x-edge>y", ["ab", "ax", "ay", "bx", "by", "xy"]],
    [
      "what is before a step that goes back to it, but not before what follows",
      "a<b a<c b<d c<d d-goto>b",
      [...["ab", "ac", "ad", "bd", "cb", "cd"]],
    ],
    ["each other, in a circle of edges", "a<b b-edge>a", ["ab", "ba"]],
  ])("%s: %s", (_, graph, pairs) => {
    expect(pairsOf(graph)).toEqual(pairs);
  });
});
