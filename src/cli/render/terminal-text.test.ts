import { describe, expect, it } from "vitest";
import { fakeChannel } from "../../../test/support/fake-channel.js";
import { jsonText, TerminalText, terminalText, writeText } from "../terminal/channel.js";

const RED = "\u001b[1;31mred\u001b[0m";
const HOSTILE = [
  ["a title", "\u001b]0;title\u0007", ""],
  ["a link", "\u001b]8;;http://evil.example\u001b\\click\u001b]8;;\u001b\\", "click"],
  ["the clipboard", "\u001b]52;c;cm0gLXJmIH4=\u0007", ""],
  ["an erased screen", "\u001b[2J\u001b[H", ""],
  ["a cursor that moves up", "\u001b[3A", ""],
  ["a report that types by itself", "\u001b[6n\u001bZ", ""],
  ["a device string", '\u001bP$q"p\u001b\\', ""],
  ["controls of one byte", "\u009b2J\u009d0;x\u009c", ""],
  ["a line that is written over", "all is bad\rall is good", "all is bad\nall is good"],
  ["a line that reads backwards", "\u202eabc\u2066", "abc"],
  ["backspaces", "bad\b\b\bok", "badok"],
] as const;

describe("what a terminal is shown of data", () => {
  it.each(HOSTILE)("is without %s, and keeps colours, in whatever pieces it comes", (_, hostile, left) => {
    const text = `${RED} ${hostile} ${RED}\n`;
    const shown = `${RED} ${left} ${RED}\n`;
    expect(terminalText(text)).toBe(shown);
    const bytes = Buffer.from(text);
    for (let cut = 0; cut <= bytes.length; cut++) {
      const terminal = new TerminalText();
      const pieces = [bytes.subarray(0, cut), bytes.subarray(cut)];
      expect([cut, pieces.map((piece) => terminal.write(piece)).join("")]).toEqual([cut, shown]);
    }
  });

  it("is the text byte for byte where there is no terminal", () => {
    const pipe = fakeChannel({ isTerminal: false });
    const terminal = fakeChannel({ isTerminal: true });
    for (const channel of [pipe, terminal]) writeText(channel, "\u001b]0;title\u0007x");
    expect([pipe.text, terminal.text]).toEqual(["\u001b]0;title\u0007x", "x"]);
  });

  it("is the same JSON, with what a terminal obeys written as escapes", () => {
    const value = { a: "\u202e\u009b2J\u007f\u001b", "\u2066": 1 };
    const text = jsonText(value);
    expect(text).toMatch(/^[ -~]+$/);
    expect(JSON.parse(text)).toEqual(value);
  });
});
