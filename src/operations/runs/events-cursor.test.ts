import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { readCursor, writeCursor, writeEventId } from "./list-events.js";

const number = fc.integer({ min: 0, max: 999_999_999_999_999 });

describe("a cursor over all runs", () => {
  it("is read as it was written", () => {
    fc.assert(
      fc.property(number, fc.array(fc.tuple(number, number)), (newest, entries) => {
        const position = { newest, seen: new Map(entries) };
        expect(readCursor(writeCursor(position))).toEqual(position);
      }),
    );
  });

  it("that would be too long names the oldest runs and goes back to before the others", () => {
    const seen = new Map(Array.from({ length: 1_000 }, (_, n) => [n * n + 1, (n * 7_919) % 1_000]));
    const { newest, seen: kept } = readCursor(writeEventId({ newest: 2_000_000, seen }, 1_000));
    expect(kept.size).toBeGreaterThan(100);
    expect(kept.size).toBeLessThan(1_000);
    expect([...kept]).toEqual([...seen].slice(0, kept.size));
    expect(newest).toBe([...seen][kept.size]![0] - 1);
    expect(writeEventId({ newest: 2_000_000, seen }, 1_000).length).toBeLessThanOrEqual(1_000);
  });

  it("takes nothing else, and unpacks no flood", async () => {
    const { deflateRawSync } = await import("node:zlib");
    const flood = deflateRawSync(Buffer.alloc(50_000_000, 1)).toString("base64url");
    const otherFormat = deflateRawSync(Uint8Array.from([9, 1])).toString("base64url");
    const cut = deflateRawSync(Uint8Array.from([1, 200])).toString("base64url");
    for (const text of ["", "yesterday", "12.3-4", flood, otherFormat, cut])
      expect(() => readCursor(text), text.slice(0, 20)).toThrow("invalid cursor");
  });
});
