import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { LogTail } from "./log-limits.js";

const MAX_BYTES = 16;

describe("a log's tail", () => {
  it("is the end of all chunks together, in whole code points, as long as it may be", () => {
    const chunk = fc.string({ unit: fc.constantFrom("a", "b", "é", "€", "😀"), maxLength: 12 });
    fc.assert(
      fc.property(fc.array(chunk, { maxLength: 12 }), fc.nat(20), (chunks, bytes) => {
        const tail = new LogTail(MAX_BYTES);
        for (const text of chunks) tail.append(Buffer.from(text));
        const whole = chunks.join("");
        const shown = tail.text(bytes);
        expect(whole.endsWith(shown)).toBe(true);
        const possible = Math.min(bytes, MAX_BYTES, Buffer.byteLength(whole));
        expect(Buffer.byteLength(shown)).toBeGreaterThan(possible - 4);
        expect(Buffer.byteLength(shown)).toBeLessThanOrEqual(possible);
      }),
      { numRuns: 1_000 },
    );
  });

  it("leaves out a last code point that is not whole, until it is", () => {
    const tail = new LogTail(MAX_BYTES);
    const euro = Buffer.from("ok €");
    tail.append(euro.subarray(0, 5));
    expect(tail.text(MAX_BYTES)).toBe("ok ");
    tail.append(euro.subarray(5));
    expect(tail.text(MAX_BYTES)).toBe("ok €");
  });

  it("shows bytes that are no text without failing", () => {
    const tail = new LogTail(MAX_BYTES);
    tail.append(Uint8Array.of(0x80, 0x80, 0xff, 0x61));
    expect(tail.text(MAX_BYTES)).toBe("\ufffd\ufffd\ufffda");
  });
});
