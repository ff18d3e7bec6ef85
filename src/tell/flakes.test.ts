import { expect, test } from "vitest";
import { bookRow } from "../../test/contract/book-contract.js";
import { findFlakes } from "./flakes.js";

/** Flakes at these times, and how many jobs ended in the two halves of 0 to 100. */
function flakesOf(times: readonly number[], earlier: number, later: number) {
  const rows = times.map((at, place) => bookRow(place + 1, 1, { kind: "ended", at, flake_ms: 1_000 }));
  const counted = (jobs: number) => (jobs === 0 ? [] : [{ workflow: "release", step: "build", jobs }]);
  const store = {
    listBookRows: async () => rows,
    countEndedJobs: async ({ since }: { readonly since: number }) => counted(since < 50 ? earlier : later),
  };
  return findFlakes(store, { since: 0, until: 100 });
}

test("a step's flakes are told with their share of its jobs and the time that they cost", async () => {
  expect(await flakesOf([10, 20, 90], 6, 6)).toMatchObject([
    { workflow: "release", step: "build", flaky: 3, jobs: 12, rate: 0.25, cost_ms: 3_000, last_run: 3 },
  ]);
  expect(await flakesOf([], 6, 6)).toEqual([]);
});

test.each([
  ["rising", [10, 60, 70], 10, 10],
  ["falling", [10, 20, 60], 10, 10],
  ["steady", [10, 60], 10, 10],
  ["new", [60], 0, 10],
  ["falling", [10], 10, 10],
  ["steady", [10], 10, 0],
] as const)("the trend is %s for flakes at %j of %d and %d jobs", async (trend, times, earlier, later) => {
  expect(await flakesOf(times, earlier, later)).toMatchObject([{ trend }]);
});
