import { expect, it } from "vitest";
import { isTally } from "./telling-line.js";

it.each([
  ["Tests  1 failed | 180 passed (181)", true],
  ["2 failed, 14 passed in 3.21s", true],
  ["Found 3 errors in 2 files", true],
  ["ℹ fail 1", true],
  ["✖ 3 problems (3 errors, 0 warnings)", true],
  ["1 of 12 tests failed: adds numbers", false],
  ["expected 2 renewals, got 1", false],
  ["failed", false],
])("%s is only a count: %s", (line, is) => {
  expect(isTally(line)).toBe(is);
});
