import { expect, it } from "vitest";
import { iso } from "../../core/text/iso-time.js";
import { clockTime } from "./clock-time.js";

it("shows a time to the second, and nothing where there is none", () => {
  expect(clockTime(iso(Date.UTC(2026, 2, 1, 12, 30, 5, 678)))).toBe("2026-03-01 12:30:05");
  expect(clockTime(null)).toBe("");
});
