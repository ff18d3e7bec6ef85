import { describe, expect, it } from "vitest";
import type { EarlierRound } from "../model/led-by.js";
import { whyAsked } from "./why-asked.js";

const round = (number: number): EarlierRound => ({
  ...{ number, attempt: number, code: "EXIT_1" },
  ...{ signature: "v2:0123456789abcdef", change: null },
});
const told = (route: "edge" | "goto" | "remediate", numbers: readonly number[]) =>
  whyAsked({ route, round: numbers.at(-1)! + 1, sourceStep: "test", earlier: numbers.map(round) }, null);

describe("a step that is asked again", () => {
  it("is told so by every route, a repair step from the second failure on", () => {
    expect(told("goto", [1])[0]).toContain("You have done this step before.");
    expect(told("edge", [1])[0]).toContain("You have done this step before.");
    expect(told("remediate", [1])[0]).toMatch(
      /^why you are asked:\nThe step `test` failed\. You are asked to/,
    );
    expect(told("remediate", [1, 2])[0]).toBe(
      "why you are asked again:\nYou have done this step before. Then the step `test` ran again and failed. Repair what it names; then it runs again. The files are as it left them; do not begin anew.",
    );
  });

  it("has the earlier rounds under their own numbers, and how many are not shown", () => {
    expect(told("goto", [1, 2])[1]).toMatch(/^earlier rounds:\n1\. test failed: .*\n2\. test failed: /);
    expect(told("goto", [3, 4])[1]).toMatch(
      /^earlier rounds \(the first 2 not shown\):\n3\. test failed: .*\n4\. test failed: /,
    );
  });
});
