import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { sha256Hex } from "./sha256.js";

describe("sha256Hex", () => {
  it.each([
    ["", "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
    ["abc", "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"],
    [
      "abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq",
      "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1",
    ],
    ["a".repeat(1_000_000), "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0"],
  ])("gives the published digest of a known text", (text, digest) => {
    expect(sha256Hex(text)).toBe(digest);
  });

  it("pads every length around the end of a block as the platform does", () => {
    for (let length = 0; length < 200; length++) {
      const text = "x".repeat(length);
      expect(sha256Hex(text)).toBe(createHash("sha256").update(text).digest("hex"));
    }
  });

  it("agrees with the platform on any text, also with halves of surrogate pairs", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 300 }), fc.boolean(), (text, broken) => {
        const input = broken ? `${text}\ud83d` : text;
        expect(sha256Hex(input)).toBe(createHash("sha256").update(input, "utf8").digest("hex"));
      }),
    );
  });
});
