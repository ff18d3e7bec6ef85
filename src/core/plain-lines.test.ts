import { describe, expect, it } from "vitest";
import { plainLines, stripAnsi } from "./plain-lines.js";

describe("stripAnsi", () => {
  it.each([
    ["\x1b[31mred\x1b[0m", "red"],
    ["\x1b[38;5;196mred\x1b[39;49m", "red"],
    ["\x9b1mbold", "bold"],
    ["\x1b]0;a title\x07text", "text"],
    ["\x1b]8;;https://example.org\x1b\\link\x1b]8;;\x1b\\", "link"],
    ["\x1b(Btext\x1b=", "text"],
    ["\x1b[2K\x1b[1Gdone", "done"],
    ["cut off\x1b", "cut off"],
  ])("%j becomes %j", (coloured, plain) => {
    expect(stripAnsi(coloured)).toBe(plain);
  });
});

describe("plainLines", () => {
  it("folds blanks, drops empty lines and takes a return for the end of a line", () => {
    expect(plainLines("  a \t b\r\n\n10%\r20%\n \x1b[1m \x1b[0m\nend")).toEqual(["a b", "10%", "20%", "end"]);
  });
});
