import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRedactor, type Redactor, unredactable } from "./redaction.js";

const LABEL = "[redacted:N]";
const bytesOf = (text: string) => new TextEncoder().encode(text);
const hiding = (value: string) => createRedactor([{ name: "N", value }]);

function streamed(redactor: Redactor, chunks: readonly Uint8Array[]): Uint8Array {
  const stream = redactor.stream();
  return Buffer.concat([...chunks.map((chunk) => Buffer.from(stream.write(chunk))), stream.end()]);
}

function cutAt(bytes: Uint8Array, places: readonly number[]): Uint8Array[] {
  const cuts = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return cuts.slice(1).map((end, index) => bytes.slice(cuts[index], end));
}

/** What programs do to a value before they print it, made with other code than the redactor's. */
const ENCODINGS: Record<string, (value: string) => string> = {
  plain: (value) => value,
  upper: (value) => value.replace(/[a-z]/g, (letter) => letter.toUpperCase()),
  lower: (value) => value.replace(/[A-Z]/g, (letter) => letter.toLowerCase()),
  swapped: (value) => value.replace(/[a-zA-Z]/g, (l) => (l < "a" ? l.toLowerCase() : l.toUpperCase())),
  url: encodeURIComponent,
  lowerUrl: (value) => encodeURIComponent(value).replace(/%../g, (code) => code.toLowerCase()),
  form: (value) => new URLSearchParams({ v: value }).toString().slice(2),
  hex: (value) => Buffer.from(value).toString("hex"),
  upperHex: (value) => Buffer.from(value).toString("hex").toUpperCase(),
  hexOfUpper: (value) => Buffer.from(value.toUpperCase()).toString("hex"),
  json: (value) => JSON.stringify(value).slice(1, -1),
  jsonInJson: (value) => JSON.stringify(JSON.stringify(value)).slice(3, -3),
  asciiJson: (value) =>
    JSON.stringify(value)
      .slice(1, -1)
      .replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`),
  shell: (value) => value.replaceAll("'", "'\\''"),
  html: (value) =>
    value.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;"),
};

/** Bytes that are no UTF-8 of the value. */
const WIDE: Record<string, (value: string) => Buffer> = {
  utf16le: (value) => Buffer.from(value, "utf16le"),
  utf16be: (value) => Buffer.from(value, "utf16le").swap16(),
  base64OfUtf16: (value) => Buffer.from(Buffer.from(value, "utf16le").toString("base64")),
};

/** No bracket: nothing in a label can then be taken for a part of the value. */
const secretText = fc
  .string({ unit: fc.constantFrom(..."abcXYZ0189 '\"\\/+-_=&%<>$!.ü漢😀"), minLength: 4, maxLength: 24 })
  .filter((value) => value.trim().length >= 4 && !LABEL.toLowerCase().includes(value.trim().toLowerCase()));
const padding = fc.string({ unit: fc.constantFrom(..."qjw ,;\n"), maxLength: 12 });

describe("a stream that stays empty", () => {
  it("ends with nothing, for which nothing is made", () => {
    const [one, other] = [hiding("hunter22").stream(), hiding("hunter22").stream()];
    one.write(bytesOf(""));
    expect(one.end().length).toBe(0);
    expect(one.end()).toBe(other.end());
  });
});

describe("secrets", () => {
  it.each(Object.entries(ENCODINGS))(
    "never survive when printed as %s, wherever the chunk ends",
    (_, encode) => {
      fc.assert(
        fc.property(secretText, padding, padding, (value, before, after) => {
          const redactor = hiding(value);
          const encoded = encode(value.trim());
          const bytes = bytesOf(before + encoded + after);
          const whole = redactor.redact(before + encoded + after);
          expect(whole.toLowerCase()).not.toContain(encoded.toLowerCase());
          expect(whole).toContain(LABEL);
          for (let cut = 0; cut <= bytes.length; cut++) {
            expect(Buffer.from(streamed(redactor, cutAt(bytes, [cut]))).toString()).toBe(whole);
          }
        }),
        { numRuns: 60 },
      );
    },
  );

  it.each(["base64", "base64url"] as const)(
    "never survive inside a longer text printed as %s",
    (encoding) => {
      fc.assert(
        fc.property(
          secretText,
          fc.string({ maxLength: 5 }),
          fc.string({ maxLength: 5 }),
          (value, before, after) => {
            const secret = value.trim();
            for (const cased of [secret, secret.toLowerCase(), secret.toUpperCase()]) {
              const encoded = Buffer.from(before + cased + after).toString(encoding);
              const shown = hiding(value).redact(encoded);
              expect(shown).toContain(LABEL);
              const hidden = encoded.length - (shown.length - LABEL.length);
              // At each edge one character is shared with a neighbour.
              expect(hidden).toBeGreaterThanOrEqual(Math.floor((Buffer.byteLength(cased) * 8) / 6) - 2);
            }
          },
        ),
        { numRuns: 200 },
      );
    },
  );

  it.each(Object.entries(WIDE))("never survive when printed as %s, wherever the chunk ends", (_, encode) => {
    fc.assert(
      fc.property(secretText, padding, (value, before) => {
        const encoded = encode(value.trim());
        const bytes = Buffer.concat([Buffer.from(before), encoded]);
        // Its last character may be padding's and its first shared with what stands before.
        const core = encoded.subarray(2, -4).toString("latin1");
        const whole = streamed(hiding(value), [bytes]);
        expect(Buffer.from(whole).toString("latin1")).toContain(LABEL);
        if (core.length > 0) expect(Buffer.from(whole).toString("latin1")).not.toContain(core);
        for (let cut = 0; cut <= bytes.length; cut += 3)
          expect(streamed(hiding(value), cutAt(bytes, [cut]))).toEqual(whole);
      }),
      { numRuns: 60 },
    );
  });

  it("are hidden with their accents put together or taken apart", () => {
    const composed = "Zürich-Café-Ñandú".normalize("NFC");
    const apart = composed.normalize("NFD");
    expect(apart).not.toBe(composed);
    for (const [kept, printed] of [
      [composed, apart],
      [apart, composed],
    ] as const) {
      expect(hiding(kept).redact(`<${printed}>`)).toBe(`<${LABEL}>`);
      const encoded = Buffer.from(printed).toString("base64");
      expect(hiding(kept).redact(encoded)).not.toContain(encoded.slice(4, -4));
    }
  });

  it("are hidden as the whole text around them stays byte for byte", () => {
    expect(hiding("hunter22").redact("a Hunter22 b hunter22hunter22")).toBe(`a ${LABEL} b ${LABEL}${LABEL}`);
  });

  it("of several lines are hidden line by line, but not their short lines", () => {
    const redactor = hiding("first-long-line\nshort\r\nsecond-long-line\n");
    expect(redactor.redact("x second-long-line y short z")).toBe(`x ${LABEL} y short z`);
    expect(redactor.redact("+ first-long-line\n+ short")).toBe(`+ ${LABEL}\n+ short`);
    expect(redactor.redact("first-long-line\\nshort\\r\\nsecond-long-line")).toBe(LABEL);
  });

  it("with a blank at their ends are hidden where they stand without", () => {
    expect(hiding("hunter22\n").redact("<hunter22>")).toBe(`<${LABEL}>`);
  });

  it("that overlap leave nothing of either", () => {
    const redactor = createRedactor([
      { name: "A", value: "abcdefgh" },
      { name: "B", value: "efghijkl" },
      { name: "C", value: "cdef" },
    ]);
    expect(redactor.redact("--abcdefghijkl--")).toBe("--[redacted:A]--");
  });

  it("that begin inside a token and end beyond it leave no rest", () => {
    expect(hiding("tail of it").redact("password=abcdtail of it!")).toBe("password=[redacted]!");
  });

  it("of 20 KB are hidden whole while little is held back", () => {
    const value = Array.from(
      { length: 20_000 },
      (_, place) => "abcdefghij"[(place * place * 7 + (place >> 3)) % 10],
    ).join("");
    const stream = hiding(value).stream();
    let shown = 0;
    const text = `${"-".repeat(50_000)}${value}${"-".repeat(50_000)}`;
    let output = "";
    for (let at = 0; at < text.length; at += 100) {
      output += Buffer.from(stream.write(bytesOf(text.slice(at, at + 100)))).toString();
      shown = output.length;
      if (at < 50_000) expect(at + 100 - shown).toBeLessThan(100);
    }
    output += Buffer.from(stream.end()).toString();
    expect(output.replaceAll(LABEL, "")).toBe("-".repeat(100_000));
  });

  it("too short to hide are named, and nothing is hidden for them", () => {
    const secrets = [
      { name: "PIN", value: "123" },
      { name: "NONE", value: "" },
      { name: "BLANK", value: "  a " },
      { name: "OK", value: "1234" },
    ];
    expect(unredactable(secrets).map(({ name }) => name)).toEqual(["PIN", "BLANK"]);
    expect(createRedactor(secrets).redact("123 12345")).toBe("123 [redacted:OK]5");
  });
});

describe("text without secrets", () => {
  it("passes byte for byte, whatever its bytes and however it is cut", () => {
    fc.assert(
      fc.property(
        fc.uint8Array({ maxLength: 300 }),
        fc.array(fc.nat(300), { maxLength: 5 }),
        (bytes, cuts) => {
          const redactor = hiding("correct horse battery");
          expect(Buffer.from(streamed(redactor, cutAt(bytes, cuts)))).toEqual(Buffer.from(bytes));
        },
      ),
      { numRuns: 500 },
    );
  });
  it("passes as the same string, half surrogate pairs and byte order marks included", () => {
    const text = "\ufeffa\ud800b \udc00 long enough";
    expect(createRedactor([]).redact(text)).toBe(text);
    expect(hiding("hunter22").redact("\ufeffhunter22")).toBe(`\ufeff${LABEL}`);
  });
  it("is given out at once, but for what may begin a secret", () => {
    const stream = hiding("hunter22").stream();
    expect(Buffer.from(stream.write(bytesOf("a line\nhun"))).toString()).toBe("a line\n");
    expect(Buffer.from(stream.write(bytesOf("ting\n"))).toString()).toBe("hunting\n");
  });
});

describe("JSON", () => {
  const redactor = hiding("hunter22");
  it("is redacted in values and keys at any depth", () => {
    expect(redactor.redactJson({ a: ["hunter22", { "x-hunter22": 1 }], b: null, c: true })).toEqual({
      a: [LABEL, { [`x-${LABEL}`]: 1 }],
      b: null,
      c: true,
    });
  });
  it("hides a value beside a telling key as logs do", () => {
    expect(
      redactor.redactJson({ password: "swordfish", next_page_token: "abc123", n: { api_key: "k-123456" } }),
    ).toEqual({
      password: "[redacted]",
      next_page_token: "abc123",
      n: { api_key: "[redacted]" },
    });
  });
  it("hides a number that is a secret, however it was written, and no other", () => {
    const secrets = [
      { name: "PIN", value: "48151623421" },
      { name: "BIG", value: "481516234210000000001" },
      { name: "ZERO", value: "0042.50" },
      { name: "SHORT", value: "137" },
    ];
    const hiding = createRedactor(secrets);
    const data = JSON.parse(
      '{"pin":48151623421,"list":[4.8151623421e10,48151623422,481516234210000000001,42.5,137]}',
    );
    expect(hiding.redactJson(data)).toEqual({
      pin: "[redacted:PIN]",
      list: ["[redacted:PIN]", 48151623422, "[redacted:BIG]", "[redacted:ZERO]", 137],
    });
    const record = { exitCode: 48151623421, message: "48151623421" };
    expect(hiding.redactJson(record, "ownRecord")).toEqual({ ...record, message: "[redacted:PIN]" });
  });
  it.each([
    ["a mark that turns the order", "is 48\u202e21\u202c3377."],
    ["a colour", "is 4821\u001b[0m3377."],
    ["a control character", "is 4821\u00013377."],
    ["a title", "is 4821\u001b]0;x\u00073377."],
  ])("holds nothing in our own records once it is stripped for a terminal: %s", (_, text) => {
    const record = { message: text, declared: { code: text }, stderrTail: `\u001b[31mred\u001b[0m ${text}` };
    expect(hiding("48213377").redactJson(record, "ownRecord")).toEqual({
      message: `is ${LABEL}.`,
      declared: { code: `is ${LABEL}.` },
      stderrTail: `red is ${LABEL}.`,
    });
    const harmless = { stderrTail: "\u001b[31mred\u001b[0m" };
    expect(hiding("48213377").redactJson(harmless, "ownRecord")).toBe(harmless);
  });
  it("is the same object if there is nothing to hide", () => {
    const json = { a: [1, "b", { c: null }] };
    expect(redactor.redactJson(json)).toBe(json);
  });
  it("keeps a key named __proto__ an ordinary key", () => {
    const json = JSON.parse('{"__proto__": {"x": "hunter22"}}');
    expect(JSON.stringify(redactor.redactJson(json))).toBe(`{"__proto__":{"x":"${LABEL}"}}`);
  });
});
