import { expect, it } from "vitest";
import { roomIn, roundsOf } from "./rungs.js";

const failed = (attempt: number, round: number, streak: number, reached = false) => ({
  attempt,
  no_progress: { streak, round, reached, oscillation: false },
});

it("tells of each round how many more of the same failure the limit takes", () => {
  const attempts = [
    failed(1, 1, 1),
    failed(2, 1, 2),
    failed(3, 1, 3, true),
    failed(4, 2, 1),
    failed(5, 2, 2),
    failed(6, 2, 1),
    { attempt: 7, no_progress: null },
  ];
  const rounds = roundsOf(attempts);
  expect(rounds.map(({ round, longest, reached }) => [round, longest, reached])).toEqual([
    [1, 3, true],
    [2, 2, false],
  ]);
  // The last failure of round 2 was a different one, so counting started again.
  expect(rounds.map((round) => roomIn(round, 3))).toEqual([0, 2]);
  expect(rounds.map((round) => roomIn(round, null))).toEqual([0, 0]);
});
