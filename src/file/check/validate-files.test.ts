import { describe, expect, it } from "vitest";
import { definitionOf, problemsOf, warningsOf } from "../../../test/support/workflow-text.js";

const file = (routing: string, more = "", type = "agent"): string => `${more}
steps:
  fix: { type: ${type}, ${type === "agent" ? "exec: [x], prompt: p" : "exec: x"}, start: auto }
  review: { exec: y, depends_on: fix, ${routing} }
`;
const WORKSPACE = "workspace: { repo: . }";
const edge = (files: string) => `transitions: [{ from: review, to: fix, on: failure, files: ${files} }]`;

describe("files of a way back", () => {
  it.each(["keep", "restore"] as const)("are read from a goto and from a transition: %s", (files) => {
    const { steps, transitions } = definitionOf(
      file(`on_fail: { goto: { step: fix, max: 1, files: ${files} } }`, `${WORKSPACE}\n${edge(files)}`),
    );
    expect(steps[1]!.onFail.gotoFiles).toBe(files);
    expect(transitions[0]!.files).toBe(files);
  });

  it("are not there where the file says nothing", () => {
    const { steps } = definitionOf(file("on_fail: { goto: fix }", WORKSPACE));
    expect(steps[1]!.onFail).not.toHaveProperty("gotoFiles");
  });

  it.each([
    ["on_fail: { goto: { step: fix, files: keep } }", "", "steps.review.on_fail.goto.files"],
    ["on_success: { goto: { step: fix, max: 1, files: restore } }", "", "steps.review.on_success.goto.files"],
    ["tags: [a]", edge("keep"), "transitions[0].files"],
    [
      "tags: [a]",
      "routing: { defaults: { on_fail: { goto: { step: fix, files: keep } } } }",
      "routing.defaults.on_fail.goto.files",
    ],
  ])("need a workspace: %s %s", (routing, more, path) => {
    expect(
      problemsOf(file(routing, more)).map((problem) => [problem.code, problem.path, problem.message]),
    ).toEqual([
      ["INVALID_VALUE", path, "`files` is about the files of a workspace, and this workflow has none"],
    ]);
  });

  it("are one of two words", () => {
    const problems = problemsOf(file("on_fail: { goto: { step: fix, files: kept } }", WORKSPACE));
    expect(problems).toMatchObject([{ code: "INVALID_VALUE", path: "steps.review.on_fail.goto.files" }]);
  });

  it("are warned of where they take an agent's work from it", () => {
    const both = `${WORKSPACE}\n${edge("restore")}`;
    const goto = "on_fail: { goto: { step: fix, max: 1, files: restore } }";
    expect(warningsOf(file(goto, both))).toEqual([
      "RESTORES_AGENT transitions[0].files",
      "RESTORES_AGENT steps.review.on_fail.goto.files",
    ]);
    expect(warningsOf(file(goto.replace("restore", "keep"), WORKSPACE))).toEqual([]);
    expect(warningsOf(file(goto, both, "command"))).toEqual([]);
  });
});
