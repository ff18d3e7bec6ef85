import { describe, expect, it } from "vitest";
import { loadDefinition } from "./load.js";
import { type Survey, surveyOf } from "./survey.js";

function survey(text: string): Survey {
  let found: Survey | null = null;
  loadDefinition(text, {
    file: "ship.yaml",
    checkExpression: () => null,
    checkTemplate: () => null,
    onRead: (read) => {
      found = surveyOf(text, read);
    },
  });
  return found!;
}

const BROKEN = `name: ship
steps:
  fetch: { exec: git pull }
  build:
    exec: make
    depends_on: [fetch, "lint|check"]
    on_fail:
      retri: { max: 3 }
      run: [mend]
      goto: fetch
  lint: { exec: lint }
  check: { exec: 3 }
  mend: [what]
transitions:
  - { from: build, to: nowhere }
  - 17
  - from: build
    to: lint
    on: failure
    priority: 4
    when:
      type: comparison
      left: error.code
      operator: "=="
      right: OOM
`;

describe("the survey of a text with problems", () => {
  it("draws every step that it has, also those that could not be read, with their lines", () => {
    const { nodes } = survey(BROKEN);
    expect(
      nodes.filter(({ step }) => step !== null).map(({ step, lines }) => [step, lines?.first, lines?.last]),
    ).toEqual([
      ["fetch", 3, 3],
      ["build", 4, 10],
      ["lint", 11, 11],
      ["check", 12, 12],
      ["mend", 13, 13],
    ]);
  });

  it("draws the edges that lead somewhere, typed, with their lines and the number to edit them by", () => {
    const { nodes, edges } = survey(BROKEN);
    const stepOf = new Map(nodes.map(({ name, step }) => [name, step ?? "or"]));
    expect(
      edges.map(({ id, from, to, kind, route, priority, condition, lines, transition }) => ({
        id,
        way: `${stepOf.get(from)} → ${stepOf.get(to)}`,
        kind,
        ...(route === null ? {} : { route }),
        ...(priority === null ? {} : { priority, condition, transition }),
        lines: [lines?.first, lines?.last],
      })),
    ).toEqual([
      { id: "steps.build.depends_on[0]", way: "fetch → build", kind: "depends", lines: [6, 6] },
      { id: "steps.build.depends_on[1].lint", way: "lint → or", kind: "depends", lines: [6, 6] },
      { id: "steps.build.depends_on[1].check", way: "check → or", kind: "depends", lines: [6, 6] },
      { id: "steps.build.depends_on[1]", way: "or → build", kind: "depends", lines: [6, 6] },
      { id: "steps.build.on_fail.run[0]", way: "build → mend", kind: "on_fail", route: "run", lines: [9, 9] },
      {
        id: "steps.build.on_fail.goto",
        way: "build → fetch",
        kind: "on_fail",
        route: "goto",
        lines: [10, 10],
      },
      {
        id: "transitions[1]",
        way: "build → lint",
        kind: "transition_failure",
        priority: 4,
        condition: 'error.code == "OOM"',
        transition: 3,
        lines: [17, 25],
      },
    ]);
  });

  it("is nothing for a text without steps, or one whose syntax is broken", () => {
    expect(survey("name: x\n")).toBeNull();
    expect(survey("steps: [")).toBeNull();
  });
});
