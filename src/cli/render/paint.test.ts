import { describe, expect, it } from "vitest";
import { ansiPaint, shownLine } from "./paint.js";

describe("a line for the terminal", () => {
  it("keeps our own colours", () => {
    const line = `${ansiPaint("red", "a failed")}: ${ansiPaint("dim", ansiPaint("bold", "why"))}`;
    expect(shownLine(line)).toBe(line);
  });

  it.each([
    ["x\n  +9.999s  forged", "x   +9.999s  forged"],
    ["\x1b[2J\x1b[1;1Hx\x1b]0;title\x07", "x"],
    ["\x1b[8mhidden\x1b[38;5;1mcolour", "hiddencolour"],
    ["a\rb \u202ec", "a b c"],
  ])("%j is shown as %j", (given, shown) => {
    expect(shownLine(given)).toBe(shown);
  });
});
