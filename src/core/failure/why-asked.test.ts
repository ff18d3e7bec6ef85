import { describe, expect, it } from "vitest";
import type { EarlierFiles } from "../model/files-policy.js";
import type { EarlierRound } from "../model/led-by.js";
import { whyAsked } from "./prompt.js";

const round = (number: number): EarlierRound => ({
  ...{ number, attempt: number, code: "EXIT_1" },
  ...{ signature: "v2:0123456789abcdef", change: null },
});
const told = (route: "edge" | "goto" | "remediate", numbers: readonly number[]) =>
  whyAsked({ route, round: numbers.at(-1)! + 1, sourceStep: "test", earlier: numbers.map(round) }, []);

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

describe("changes of earlier attempts", () => {
  const told = (...files: Partial<EarlierFiles>[]): string =>
    whyAsked(
      null,
      files.map((each) => ({ state: "lost", step: null, attempts: [], files: [], patch: null, ...each })),
    ).join("\n");

  it("are named with their patch where a lost attempt has taken the folder back", () => {
    expect(told({ attempts: [1, 2], files: ["app.txt"], patch: "partial/a2" })).toBe(
      "why you are asked again:\nAttempt 2 ended in the middle of its work, through no fault of yours, and the working folder went back to its last checkpoint. The changes of attempts 1 and 2 (app.txt) are not in it; they are in $DARUMA_PREVIOUS_PATCH.",
    );
  });

  it("that went in several ways have the variable for the last, and an artifact for each before it", () => {
    const lines = told(
      { state: "fresh", attempts: [1, 2], patch: "attempts/a2" },
      { state: "fresh", attempts: [3], patch: "attempts/a3" },
      { attempts: [4], patch: "partial/a4" },
      { state: "set_aside", step: "review", attempts: [1], patch: "partial/r1" },
    ).split("\n");
    expect(lines.slice(1)).toEqual([
      "This is a fresh working folder. The changes of attempts 1 and 2 are not in it; they are in the artifact attempts/a2.",
      "The changes of attempt 3 are not in it; they are in the artifact attempts/a3.",
      "Attempt 4 ended in the middle of its work, through no fault of yours, and the working folder went back to its last checkpoint. The changes of attempt 4 are not in it; they are in $DARUMA_PREVIOUS_PATCH.",
      "What attempt 1 of `review` left is not there; it is in the artifact partial/r1.",
    ]);
  });

  it("that are unfinished are there to go on with, until the folder is another", () => {
    const unfinished = { state: "unfinished", attempts: [2, 3] } as const;
    expect(told(unfinished)).toContain(
      "Attempts 2 and 3 ended in the middle of the work, through no fault of yours. What you did is in the working folder; continue from it.",
    );
    expect(told(unfinished, { state: "set_back", attempts: [3] })).toBe(
      "why you are asked again:\nThe working folder went back to its last checkpoint. The changes of attempt 3 are not in it.",
    );
  });
});
