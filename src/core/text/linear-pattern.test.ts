import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  compilePattern,
  MAX_PATTERN_STATES,
  MAX_SCHEMA_WORK,
  SchemaTooCostly,
  SchemaWork,
} from "./linear-pattern.js";

function matches(pattern: string, text: string): boolean {
  const compiled = compilePattern(pattern);
  if ("refused" in compiled) throw new Error(compiled.refused);
  return compiled.test(text);
}

describe("a linear pattern", () => {
  it.each([
    "^a*$",
    "a{2,3}b",
    "^(?:ab|c)+$",
    "^[a-c\\d]{2}$",
    "x|^$",
    "^.é\\u{1F600}?$",
    "^(a|b)*?c$",
    "\\.$",
    "[^a]",
    "^(a{0}b)?$",
    "^\\x61\\u0062+$",
    "(^a|b$)",
  ])("%s agrees with RegExp", (pattern) => {
    const texts = fc.string({ unit: fc.constantFrom(..."abcd1.xé😀\n"), maxLength: 8 });
    fc.assert(
      fc.property(texts, (text) => {
        expect(matches(pattern, text)).toBe(new RegExp(pattern, "u").test(text));
      }),
      { numRuns: 400 },
    );
  });

  it("agrees with RegExp for patterns made at random", () => {
    const { pattern } = fc.letrec<{ pattern: string; atom: string }>((tie) => ({
      atom: fc.oneof(
        { maxDepth: 3 },
        fc.constantFrom("a", "b", ".", "[ab]", "[^a]", "^", "$", "\\w"),
        tie("pattern").map((inner) => `(?:${inner})`),
      ),
      pattern: fc
        .array(fc.tuple(tie("atom"), fc.constantFrom("", "", "*", "+", "?", "{2}", "{1,2}", "{0,}")), {
          minLength: 1,
          maxLength: 3,
        })
        .map((parts) =>
          parts.map(([atom, times]) => (atom === "^" || atom === "$" ? atom : atom + times)).join(""),
        ),
    }));
    fc.assert(
      fc.property(
        fc.array(pattern, { minLength: 1, maxLength: 2 }),
        fc.string({ unit: fc.constantFrom(..."abc"), maxLength: 6 }),
        (branches, text) => {
          const source = branches.join("|");
          const compiled = compilePattern(source);
          if ("refused" in compiled) expect(compiled.refused).toBe("the pattern is too large");
          else expect(compiled.test(text)).toBe(new RegExp(source, "u").test(text));
        },
      ),
      { numRuns: 1_000 },
    );
  });

  it("is not slowed down by what makes RegExp hang", () => {
    expect(matches("^(a+)+$", `${"a".repeat(5_000)}b`)).toBe(false);
    expect(matches("^(a|a)*$", `${"a".repeat(5_000)}b`)).toBe(false);
    expect(matches("(.*)*x", "a".repeat(5_000))).toBe(false);
  });

  it("takes one step a character where many ways lead on", () => {
    const work = new SchemaWork();
    const compiled = compilePattern("[a-z]{1,500}X");
    if ("refused" in compiled) throw new Error(compiled.refused);
    expect(compiled.test("a".repeat(3_000_000), work)).toBe(false);
    expect(work.spent).toBeLessThan(6_000_000);
    expect(compiled.test(`${"a".repeat(1_000)}X`, work)).toBe(true);
  });

  it("gives up on a text that takes too much work, at the same place always", () => {
    const costly = compilePattern("[ab]*a[ab]{400}X");
    if ("refused" in costly) throw new Error(costly.refused);
    // The squares of numbers do not repeat soon: nearly every character leads to a set of states that is new.
    const random = Array.from({ length: 100_000 }, (_, n) => (((n * n) % 7919) % 2 === 0 ? "a" : "b")).join(
      "",
    );
    const spent = [1, 2].map(() => {
      const work = new SchemaWork();
      expect(() => costly.test(random, work)).toThrow(SchemaTooCostly);
      return work.spent;
    });
    expect(spent[0]).toBe(spent[1]);
    expect(spent[0]).toBeLessThan(MAX_SCHEMA_WORK + 3 * MAX_PATTERN_STATES);
  });

  it.each([
    "(?=a)",
    "(?<!a)b",
    "(a)\\1",
    "\\bword",
    "\\p{L}",
    "(?<name>a)",
    "a{5000}",
    "((a{99}){99}){99}",
    "(",
    "[b-a]",
  ])("%s is refused with a reason", (pattern) => {
    expect(compilePattern(pattern)).toEqual({ refused: expect.any(String) });
  });
});
