import { describe, expect, it } from "vitest";
import { parseDuration } from "./amounts.js";

describe("parseDuration", () => {
  it.each([
    ["30s", 30_000],
    ["5m", 300_000],
    ["1h30m", 5_400_000],
    ["250ms", 250],
    ["1.5s", 1_500],
    ["1d", 86_400_000],
    ["1m0s500ms", 60_500],
    [" 2s ", 2_000],
    ["PT1H30M", 5_400_000],
    ["PT0.5S", 500],
    ["P1DT1S", 86_401_000],
    ["P2D", 172_800_000],
  ])("reads %s as %d ms", (text, ms) => {
    expect(parseDuration(text)).toBe(ms);
  });

  it.each([
    "",
    "30",
    "s",
    "1x",
    "30m1h",
    "1s1s",
    "-5s",
    "P",
    "PT",
    "P1Y",
    "1h 30m",
    "1e3s",
    `${"9".repeat(50)}s`,
  ])("refuses %j", (text) => {
    expect(parseDuration(text)).toBeNull();
  });
});
