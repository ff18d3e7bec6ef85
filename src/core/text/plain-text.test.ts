import { describe, expect, it } from "vitest";
import { oneLine, plainLines, plainText, stripAnsi } from "./plain-text.js";

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
    ["\x1b]0;a title without an end\nthe next line", "\nthe next line"],
    ["\x9d0;a title\x9ctext", "text"],
    ["\x1bPdevice control\x1b\\text", "text"],
  ])("%j becomes %j", (coloured, plain) => {
    expect(stripAnsi(coloured)).toBe(plain);
  });
});

describe("plainText", () => {
  it.each([
    ["one\ntwo\tcolumns", "one\ntwo\tcolumns"],
    ["\x1b]0;title\x07boom", "boom"],
    ["a\rb\r\nc\u2028d\x85e\vf", "a\nb\nc\nd\ne\nf"],
    ["bell\x07 back\bspace nul\0 del\x7f", "bell backspace nul del"],
    ["user\u202egnp.exe \u2066x\u2069 \u200fy\u061c", "usergnp.exe x y"],
    ["👩‍💻 stays whole", "👩‍💻 stays whole"],
  ])("%j becomes %j", (given, plain) => {
    expect(plainText(given)).toBe(plain);
  });
});

describe("oneLine", () => {
  it("folds lines and blanks, and cuts between characters", () => {
    expect(oneLine("  a\r\n\tb\u2029c  ")).toBe("a b c");
    expect(oneLine("ab😀cd", 3)).toBe("ab…");
    expect(oneLine("abc", 3)).toBe("abc");
  });
});

describe("plainLines", () => {
  it("folds blanks, drops empty lines and takes a return for the end of a line", () => {
    expect(plainLines("  a \t b\r\n\n10%\r20%\n \x1b[1m \x1b[0m\nend")).toEqual(["a b", "10%", "20%", "end"]);
  });
});
