import { describe, expect, it } from "vitest";
import { diffTexts } from "./diff-lines.js";

const shown = (before: string, after: string): string[] =>
  diffTexts(before, after).map(({ kind, text }) => `${{ same: " ", removed: "-", added: "+" }[kind]}${text}`);

describe("the lines of two texts", () => {
  it("are shown once where they are the same", () => {
    expect(shown("a\nb\nc\n", "a\nx\nc\nd\n")).toEqual([" a", "-b", "+x", " c", "+d"]);
    expect(shown("", "a\n")).toEqual(["+a"]);
    expect(shown("a\n", "")).toEqual(["-a"]);
    expect(
      shown("a\nb\nc\na\nb\nb\na\n", "c\nb\na\nb\na\nc\n").filter((line) => line[0] === " "),
    ).toHaveLength(4);
  });

  it("have the numbers that they have in their texts", () => {
    expect(diffTexts("a\nb\n", "b\nc\n")).toEqual([
      { kind: "removed", before: 1, after: null, text: "a" },
      { kind: "same", before: 2, after: 1, text: "b" },
      { kind: "added", before: null, after: 2, text: "c" },
    ]);
  });

  it("give both texts back, whatever they are", () => {
    let seed = 7;
    const random = (below: number): number => {
      seed = (seed * 1_103_515_245 + 12_345) % 2_147_483_648;
      return Math.floor((seed / 2_147_483_648) * below);
    };
    const text = (): string => Array.from({ length: random(12) }, () => `${"abc"[random(3)]}\n`).join("");
    for (let round = 0; round < 500; round++) {
      const [before, after] = [text(), text()];
      const lines = diffTexts(before, after);
      const ofKind = (other: string): string =>
        lines
          .filter(({ kind }) => kind !== other)
          .map((line) => `${line.text}\n`)
          .join("");
      expect([ofKind("added"), ofKind("removed")]).toEqual([before, after]);
    }
  });

  it("that have nothing in common take no time to say", () => {
    const many = (word: string): string =>
      Array.from({ length: 20_000 }, (_, at) => `${word} ${at}\n`).join("");
    expect(diffTexts(many("a"), many("b"))).toHaveLength(40_000);
  });
});
