import { expect, it } from "vitest";
import { climbColumns } from "./rungs.js";

const climbs = Array.from({ length: 20 }, (_, place) => ({
  attempt: place + 1,
  rung: "retry",
  considered: [],
}));
const shown = (chosen: number | null, count = 20) => {
  const { columns, leftOff } = climbColumns(climbs.slice(0, count), chosen, 5);
  return [columns.map(({ attempt }) => attempt).join(" "), leftOff];
};

it("the chart shows the last attempts, and always the chosen one", () => {
  expect(shown(null)).toEqual(["16 17 18 19 20", 15]);
  expect(shown(20)).toEqual(["16 17 18 19 20", 15]);
  expect(shown(17)).toEqual(["16 17 18 19 20", 15]);
  expect(shown(10)).toEqual(["6 7 8 9 10", 5]);
  expect(shown(2)).toEqual(["1 2 3 4 5", 0]);
  expect(shown(2, 3)).toEqual(["1 2 3", 0]);
  expect(shown(null, 0)).toEqual(["", 0]);
});
