import { describe, expect, it } from "vitest";
import { segmentsOf } from "./shown-text.js";

const ESC = String.fromCharCode(0x1b);

describe("a line that a step printed", () => {
  it("keeps its colours and nothing else of a terminal", () => {
    expect(segmentsOf(`${ESC}[1;31mFAIL${ESC}[0m parser`)).toEqual([
      { text: "FAIL", ink: "red", bold: true },
      { text: " parser" },
    ]);
    const title = `${ESC}]0;pwned${String.fromCharCode(7)}`;
    const link = `${ESC}]8;;http://evil.example${String.fromCharCode(7)}link${ESC}]8;;${String.fromCharCode(7)}`;
    expect(segmentsOf(`${title}a${ESC}[2J${ESC}[10;10Hb${link}${ESC}[8mhidden${ESC}[0m`)).toEqual([
      { text: "ablink" },
      { text: "hidden" },
    ]);
  });

  it("is text, whatever it looks like", () => {
    const html = '<img src=x onerror="alert(1)"> & <script>';
    expect(segmentsOf(html)).toEqual([{ text: html }]);
    expect(segmentsOf("")).toEqual([]);
  });

  it("shows what turns its order or hides in it", () => {
    expect(segmentsOf("abc\u202edef\u2069")).toEqual([
      { text: "abc" },
      { text: "RLO", mark: true },
      { text: "def" },
      { text: "PDI", mark: true },
    ]);
    expect(segmentsOf("a\u0008b\u0000c\rd\u200be\r")).toEqual([
      { text: "a␈b␀c␍d" },
      { text: "ZWSP", mark: true },
      { text: "e" },
    ]);
  });
});
