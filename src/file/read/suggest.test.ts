import { describe, expect, it } from "vitest";
import { editDistance, quote, Suggester } from "./suggest.js";

describe("suggestions", () => {
  it.each([
    ["dependson", "depends_on"],
    ["dependsOn", "depends_on"],
    ["depend_on", "depends_on"],
    ["tiemout_ms", "timeout_ms"],
    ["ENV", "env"],
  ])("find %s near %s", (name, expected) => {
    expect(new Suggester().nearest(name, ["env", "timeout_ms", "depends_on", "exec"])).toBe(expected);
  });

  it("stay silent when nothing is near", () => {
    expect(new Suggester().nearest("colour", ["env", "timeout_ms", "exec"])).toBeNull();
    expect(new Suggester().nearest("x".repeat(1_000), ["x".repeat(999)])).toBeNull();
  });

  it("stop when their budget of comparisons is spent", () => {
    const suggester = new Suggester();
    const names = Array.from({ length: 10_000 }, (_, index) => `name${index}`);
    const answers = Array.from({ length: 30 }, () => suggester.nearest("step1", [...names, "step2"]));
    expect(answers[0]).toBe("step2");
    expect(answers.at(-1)).toBeNull();
  });

  it("count a swap of neighbours as one edit", () => {
    expect(editDistance("ab", "ba")).toBe(1);
    expect(editDistance("kitten", "sitting")).toBe(3);
    expect(editDistance("", "abc")).toBe(3);
  });

  it("quote names on one line", () => {
    expect(quote("a\nb\u001b")).toBe("`a�b�`");
  });
});
