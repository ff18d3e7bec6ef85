import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor } from "./redaction.js";

describe("a long secret in base64 that is broken into lines", () => {
  const value = Array.from({ length: 50 }, (_, index) => `k${index}Q`).join("-");
  const redactor = createRedactor([{ name: "LONG", value }]);

  it.each([60, 64, 76])("leaves no more than a few characters of any line of %i", (width) => {
    for (const before of ["", "x", "xy", "user:"]) {
      const encoded = Buffer.from(before + value).toString("base64");
      const wrapped = encoded.replaceAll(new RegExp(`.{${width}}`, "g"), "$&\n");
      const shown = redactor.redact(wrapped).replaceAll("[redacted:LONG]", "\n");
      const middle = wrapped.split("\n").slice(1, -2);
      for (const line of middle) {
        const longest = shown
          .split("\n")
          .filter((piece) => line.includes(piece))
          .reduce((most, piece) => Math.max(most, piece.length), 0);
        expect(longest, `${before} ${line}`).toBeLessThan(16);
      }
      expect(shown).not.toContain(middle[0]);
    }
  });
});

/** With what a program may have put between two lines of one value. */
const BREAKS = ["\n", "\r\n", "\n    ", "\\\n", "\\n", "\n\t"];

function wrap(text: string, width: number, between: string): string {
  return text.replaceAll(new RegExp(`.{${width}}(?=.)`, "g"), `$&${between}`);
}

describe("a secret that a program has broken into lines", () => {
  const value = "correct-horse/battery+staple.42";
  const redactor = createRedactor([{ name: "N", value }]);
  const forms: [string, string][] = [
    ["plain", value],
    ["hex", Buffer.from(value).toString("hex")],
    ["base64", Buffer.from(value).toString("base64")],
    ["base64 inside a text", Buffer.from(`user:${value}:end`).toString("base64")],
    ["url", encodeURIComponent(value)],
  ];

  it.each(forms)(
    "is hidden at whatever width, with whatever break, but for a few characters: %s",
    (_, form) => {
      for (const between of BREAKS)
        for (let width = 3; width < form.length; width++) {
          const text = `before ${wrap(form, width, between)} after`;
          const shown = redactor.redact(text);
          expect([width, between, shown]).toEqual([width, between, expect.stringContaining("[redacted:N]")]);
          const left = shown.replaceAll("[redacted:N]", "\n").replace("before ", "").replace(" after", "");
          for (const piece of left.split(/\s|\\n?/))
            if (form.includes(piece)) expect([width, piece, piece.length < 12]).toEqual([width, piece, true]);
        }
    },
  );

  it("is hidden the same however the bytes are cut", () => {
    const text = fc.array(
      fc.constantFrom(value, value.slice(0, 12), value.slice(12), "\n", "\\", "n", " ", "x", "corr"),
      { maxLength: 10 },
    );
    fc.assert(
      fc.property(text, fc.array(fc.nat(400), { maxLength: 6 }), (parts, places) => {
        const bytes = Buffer.from(parts.join(""));
        const ends = places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b);
        const stream = redactor.stream();
        const cuts = [0, ...ends, bytes.length];
        const shown = cuts
          .slice(1)
          .map((end, index) => Buffer.from(stream.write(bytes.subarray(cuts[index], end))));
        expect(Buffer.concat([...shown, stream.end()]).toString()).toBe(redactor.redact(parts.join("")));
      }),
      { numRuns: 3_000 },
    );
  });

  it("leaves lines alone that only begin like one, and what stands after", () => {
    const text = "correct-horse/\nbattery is low\ncorrect-\nhorse/bat and so on\n";
    expect(redactor.redact(text)).toBe(text);
    expect(createRedactor([{ name: "PIN", value: "12345" }]).redact("123\n45")).toBe("123\n45");
  });

  it("costs no more than its share where every line may begin one", () => {
    const repeated = createRedactor([{ name: "A", value: "a".repeat(4_000) }]);
    const stream = repeated.stream();
    let given = 0;
    for (let round = 0; round < 50; round++) given += stream.write(Buffer.from("aaa\n".repeat(1_000))).length;
    given += stream.end().length;
    expect(given).toBeGreaterThan(0);
  });
});
