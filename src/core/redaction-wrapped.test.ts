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
