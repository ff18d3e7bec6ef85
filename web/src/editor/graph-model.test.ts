import { describe, expect, it } from "vitest";
import type { Survey, SurveyEdge } from "./check.js";
import { classOf, drawRoutes, edgeAtLine, layoutOf, problemsOfSteps } from "./graph-model.js";

const node = (name: string, first: number) => ({
  ...{ name, step: name, label: name, shape: "step" as const, status: null },
  lines: { first, last: first + 1 },
});
const edge = (from: string, to: string, more: Partial<SurveyEdge> = {}): SurveyEdge => ({
  ...{
    id: `${from} ${to}`,
    from,
    to,
    kind: "depends",
    route: null,
    priority: null,
    condition: null,
    then: null,
    label: null,
  },
  ...{ lines: null, transition: null, when: null, taken: null },
  ...more,
});
const survey: Survey = {
  nodes: [node("a", 2), node("b", 4), node("c", 6), node("d", 8)],
  edges: [
    edge("a", "b"),
    edge("b", "a", { kind: "on_fail", route: "goto" }),
    edge("b", "c", { kind: "on_fail", route: "run" }),
    edge("b", "d", {
      ...{ kind: "transition_failure", priority: 2, condition: 'error.class == "x"', transition: 1 },
      ...{ lines: { first: 11, last: 13 }, then: "skip" },
    }),
  ],
};

describe("the picture of a draft", () => {
  it("tells apart what becomes of a failure", () => {
    const edges = (["skip", "continue", "fail"] as const).map((then) =>
      edge("b", "d", { kind: "transition_failure", priority: 1, then }),
    );
    const routes = drawRoutes({ ...survey, edges }, layoutOf({ ...survey, edges }));
    expect(routes.map(({ words }) => words)).toEqual([
      "1 · failure",
      "1 · failure, then continue",
      "1 · failure, then fail",
    ]);
    expect(edges.map(classOf)).toEqual(["skip", "continue", "fail"].map((then) => `failure then-${then}`));
    expect(classOf(edge("a", "b"))).toBe("depends");
  });

  it("draws every edge as what it is, and says priority and condition", () => {
    const routes = drawRoutes(survey, layoutOf(survey));
    expect(routes.map(({ look, words }) => [look, words])).toEqual([
      ["depends", ""],
      ["goto", "goto"],
      ["repair", "repair"],
      ["failure", "2 · failure, if error.class == …"],
    ]);
    expect(routes.every(({ path }) => /^M[-\d. CHQ]+$/.test(path))).toBe(true);
  });

  it("writes beside a line, not on it", () => {
    const failure = { kind: "transition_failure", priority: 1, transition: 0 } as const;
    const drawn: Survey = {
      nodes: [node("a", 2), node("b", 4), node("c", 6), node("d", 8)],
      edges: [
        edge("a", "b", failure),
        edge("b", "c"),
        edge("a", "c", { ...failure, id: "long" }),
        edge("a", "d"),
      ],
    };
    const layout = layoutOf(drawn);
    const [short, , long] = drawRoutes(drawn, layout);
    // The edge leaves on the right half and arrives from the right.
    expect(short!.anchor).toBe("end");
    const [bend] = layout.bends.get("a\nc")!;
    expect([long!.x, long!.y]).toEqual([bend!.x + 8, (bend!.top + bend!.bottom) / 2 + 4]);
    expect(long!.anchor).toBe("start");
    expect(drawRoutes(survey, layoutOf(survey)).map(({ look, anchor }) => [look, anchor])).toContainEqual([
      "repair",
      "middle",
    ]);
  });

  it("finds the edge of a line, and counts the problems of a step by its lines", () => {
    expect(edgeAtLine(survey, 12)?.transition).toBe(1);
    expect(edgeAtLine(survey, 14)).toBeNull();
    const problem = { code: "X", message: "", hint: "", file: "", column: 1, path: "" };
    expect([
      ...problemsOfSteps(survey, [
        { ...problem, line: 5 },
        { ...problem, line: 4 },
        { ...problem, line: 20 },
      ]),
    ]).toEqual([["b", 2]]);
  });
});
