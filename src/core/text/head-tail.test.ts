import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { charsOf, firstChars, lastChars, truncateHeadTail } from "./head-tail.js";

const HALF_A_PAIR = /\p{Cs}/u;
const MARKER = /\n\[\.\.\. (\d+) characters dropped \.\.\.\]\n/;

describe("truncateHeadTail", () => {
  it("leaves a text that fits exactly as it is, and cuts one that is a character longer", () => {
    const text = "x".repeat(100);
    expect(truncateHeadTail(text, 100)).toEqual({ text, originalChars: 100, includedChars: 100 });
    const cut = truncateHeadTail(`${text}y`, 100);
    expect(cut.includedChars).toBeLessThan(101);
    expect(cut.text.length).toBe(100 - 1);
  });

  it("keeps both ends and says between them how much is missing", () => {
    const { text, includedChars } = truncateHeadTail(`begin ${"m".repeat(1_000)} end`, 100);
    expect(text).toMatch(/^begin m+\n\[\.\.\. \d+ characters dropped \.\.\.\]\nm+ end$/);
    expect(Number(MARKER.exec(text)![1])).toBe(1_010 - includedChars);
  });

  it("keeps only the beginning where there is no room for the marker", () => {
    expect(truncateHeadTail("a😀b".repeat(20), 2)).toEqual({
      text: "a",
      originalChars: 80,
      includedChars: 1,
    });
    expect(truncateHeadTail("abc", 0).text).toBe("");
    expect(truncateHeadTail("abc", -5).text).toBe("");
  });

  it("never cuts an emoji in two, wherever the cut falls", () => {
    for (let budget = 0; budget < 140; budget++) {
      const { text } = truncateHeadTail("😀".repeat(100), budget);
      expect(text).not.toMatch(HALF_A_PAIR);
      expect(text.length).toBeLessThanOrEqual(budget);
    }
  });

  it.each([
    ["a letter and its accent", "e\u0301"],
    ["a family", "👩\u200d👩\u200d👧"],
    ["a thumb and its colour", "👍🏽"],
    ["a return and a newline", "\r\n"],
  ])("never cuts %s apart", (_, cluster) => {
    for (let budget = 60; budget < 90; budget++) {
      const [head, tail] = truncateHeadTail(cluster.repeat(60), budget).text.split(
        /\n\[\.\.\. \d+ characters dropped \.\.\.\]\n/,
      );
      expect(head!.replaceAll(cluster, "")).toBe("");
      expect(tail!.replaceAll(cluster, "")).toBe("");
    }
  });

  it("cuts an endless chain of accents between two code points", () => {
    const { text } = truncateHeadTail(`e${"\u0301".repeat(10_000)}`, 300);
    expect(text.length).toBeGreaterThan(290);
  });

  it("takes the two ends of a text that is too large to hold", () => {
    const excerpt = {
      head: `first ${"h".repeat(500)}`,
      tail: `${"t".repeat(500)} last`,
      omittedChars: 1_000_000,
    };
    const { text, originalChars, includedChars } = truncateHeadTail(excerpt, 200);
    expect(originalChars).toBe(1_001_011);
    expect(text).toMatch(/^first h+\n\[.*\]\nt+ last$/);
    expect(text.length).toBeLessThanOrEqual(200);
    expect(text).toContain(`${originalChars - includedChars} characters dropped`);
  });

  it("says what is missing even if both ends fit, and gives one end the room of the other", () => {
    expect(truncateHeadTail({ head: "a", tail: "z", omittedChars: 7 }, 100).text).toBe(
      "a\n[... 7 characters dropped ...]\nz",
    );
    expect(truncateHeadTail({ head: "a", tail: "z", omittedChars: 0 }, 100).text).toBe("az");
    const uneven = truncateHeadTail({ head: "a", tail: "z".repeat(500), omittedChars: 9 }, 200);
    expect(uneven.includedChars).toBeGreaterThan(150);
  });

  it("keeps within any budget, adds up, is the same each time and breaks no code point", () => {
    const texts = fc.string({ unit: "binary", maxLength: 400 });
    const logged = fc.oneof(texts, fc.record({ head: texts, tail: texts, omittedChars: fc.nat(10_000) }));
    fc.assert(
      fc.property(logged, fc.integer({ min: 0, max: 500 }), (text, budget) => {
        const cut = truncateHeadTail(text, budget);
        expect(cut.text.length).toBeLessThanOrEqual(budget);
        expect(cut.originalChars).toBe(charsOf(text));
        const dropped = MARKER.exec(cut.text)?.[1];
        if (dropped !== undefined) expect(cut.includedChars + Number(dropped)).toBe(cut.originalChars);
        expect(cut.text).not.toMatch(HALF_A_PAIR);
        expect(truncateHeadTail(text, budget)).toEqual(cut);
      }),
    );
  });
});

describe("firstChars and lastChars", () => {
  it("give whole characters from one end", () => {
    expect(firstChars("ab😀", 3)).toBe("ab");
    expect(lastChars("😀ab", 3)).toBe("ab");
    expect(firstChars("ab", 2)).toBe("ab");
    expect(lastChars("abc", 2)).toBe("bc");
    expect(lastChars("e\u0301x", 2)).toBe("x");
  });
});
