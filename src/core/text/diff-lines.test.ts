import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { diffLines } from "./diff-lines.js";

const shown = (one: string, other: string, maxEdits?: number): string =>
  diffLines([...one], [...other], maxEdits)
    .map((pair) =>
      pair.one === null
        ? `+${other[pair.other!]}`
        : pair.other === null
          ? `-${one[pair.one]}`
          : one[pair.one],
    )
    .join(" ");

describe("diffLines", () => {
  it("finds the shortest way from one text to the other", () => {
    expect(shown("abcd", "abcd")).toBe("a b c d");
    expect(shown("abcd", "axcd")).toBe("a -b +x c d");
    expect(shown("abc", "abxyc")).toBe("a b +x +y c");
    expect(shown("", "ab")).toBe("+a +b");
    expect(shown("ab", "")).toBe("-a -b");
    expect(
      shown("abcabba", "cbabac")
        .split(" ")
        .filter((part) => part.length > 1),
    ).toHaveLength(5);
  });

  it("gives up on texts that differ too much, and still has all of both", () => {
    expect(shown("xabcy", "xdefy", 2)).toBe("x -a -b -c +d +e +f y");
  });

  it("leads from any text to any other", () => {
    const texts = fc.array(fc.constantFrom("a", "b", "c", "d"), { maxLength: 30 });
    fc.assert(
      fc.property(texts, texts, (one, other) => {
        const pairs = diffLines(one, other);
        expect(pairs.flatMap((pair) => (pair.one === null ? [] : [pair.one]))).toEqual([...one.keys()]);
        expect(pairs.flatMap((pair) => (pair.other === null ? [] : [pair.other]))).toEqual([...other.keys()]);
        for (const pair of pairs)
          if (pair.one !== null && pair.other !== null) expect(one[pair.one]).toBe(other[pair.other]);
      }),
    );
  });
});
