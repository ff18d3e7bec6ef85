import { describe, expect, it } from "vitest";
import { definitionOf } from "../../../test/support/workflow-text.js";
import { worstCase } from "../../file/lint/worst-case.js";
import { worstCaseLines } from "../commands/run/validate.js";

const lines = (text: string): string[] =>
  worstCaseLines(worstCase(definitionOf(text)), 100, (_, line) => line).map((line) => line.trimEnd());

describe("the worst case", () => {
  it("of one step is one attempt", () => {
    expect(lines("steps: { a: { exec: x } }")).toEqual([
      "worst case: 1 attempt in all, not counting restarts after a lost worker",
    ]);
  });

  it("says 0 of a step that nothing reaches", () => {
    const text = `routing: { max_loops: 2 }
steps: { a: { exec: x }, b: { exec: x, depends_on: a, on_fail: { goto: a } }, f: { exec: x } }
transitions: [{ from: b, to: f, on: failure }]
`;
    expect(lines(text)).toEqual([
      "worst case: 6 attempts in all, not counting restarts after a lost worker",
      "  step  visits  attempts",
      "  a     3       3",
      "  b     3       3",
      "  f     0       0",
    ]);
  });
});
