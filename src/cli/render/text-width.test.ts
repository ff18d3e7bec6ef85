import { describe, expect, it } from "vitest";
import { cutTo, tableLines, textWidth } from "./columns.js";

describe("widths on a terminal", () => {
  it.each([
    ["build", 5],
    ["達磨", 4],
    ["e\u0301", 1],
    ["\x1b[31mred\x1b[39m", 3],
    ["🚀 go", 5],
  ])("%j takes %i columns", (text, width) => {
    expect(textWidth(text)).toBe(width);
  });

  it("cuts between characters, never through a wide one", () => {
    expect(cutTo("達磨達磨", 6)).toBe("達磨…");
    expect(cutTo("abc", 3)).toBe("abc");
  });
});

describe("tables", () => {
  it("align columns by width on screen and cut only the last one", () => {
    expect(
      tableLines(
        ["a", "b"],
        [
          ["達磨", "x".repeat(50)],
          ["y", "z"],
        ],
        30,
      ),
    ).toEqual(["a     b", `達磨  ${"x".repeat(23)}…`, "y     z"]);
  });
});
