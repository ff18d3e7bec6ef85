import { expect, it } from "vitest";
import { triedLines } from "./tried-lines.js";

const at = (ms: number): string => new Date(ms).toISOString();
const attempt = (number: number, signature: string) => ({
  ...{
    attempt: number,
    started_at: at(0),
    finished_at: at(100 + number),
    error: { code: "EXIT_1", signature },
  },
});
const climb = (number: number, rung: string, reason: string, spent: readonly string[] = []) => ({
  attempt: number,
  rung,
  considered: [
    ...spent.map((each) => ({ rung: "retry", applied: false, kind: "no_retries_left", reason: each })),
    { rung, applied: true, reason },
  ],
});

it("tells of each attempt how it ended and what the ladder did, and leaves out what lies further back", () => {
  const job = {
    attempt_history: [attempt(1, "a"), attempt(2, "b"), attempt(3, "b"), attempt(4, "b")],
    diagnostics: [
      climb(1, "retry", "EXIT_1: retry 1 of 2"),
      climb(2, "retry", "EXIT_1: retry 2 of 2 in 1500 ms"),
      climb(3, "reset", "hard reset 1 of 1 (no progress: the same failure 2 times)"),
      climb(4, "hold", "nothing else handles this failure", ["no retries left (2 used)"]),
    ],
  } as never;
  expect(triedLines(job, 3)).toEqual({
    before: 1,
    lines: [
      { attempt: 2, words: "failed after 102 ms", rung: "retry", reason: "2 of 2 in 1.5 s" },
      { attempt: 3, words: "failed the same way after 103 ms", rung: "reset", reason: "1 of 1" },
      {
        attempt: 4,
        words: "failed the same way after 104 ms",
        rung: "hold",
        reason: "no retries left (2 used)",
      },
    ],
  });
});
