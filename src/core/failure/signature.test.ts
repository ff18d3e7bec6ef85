import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { FailureClass } from "../model/failure.js";
import { createRedactor } from "../redaction/redaction.js";
import { failureSignature, maskItems, progressSignature, signedText } from "./signature.js";

const failure = (
  part: {
    code?: string;
    class?: FailureClass;
    message?: string;
    stderr_tail?: string;
    stdout_tail?: string;
  } = {},
) => ({
  code: "EXIT_1",
  class: "application" as const,
  message: "exited with code 1",
  stderr_tail: "",
  stdout_tail: "",
  ...part,
});
const sign = (part: Parameters<typeof failure>[0]) => failureSignature(failure(part));

describe("failureSignature", () => {
  it("is versioned and a digest", () => {
    expect(sign({})).toMatch(/^v2:[0-9a-f]{64}$/);
  });

  it("never changes for a given failure", () => {
    expect(sign({ stderr_tail: "Error: boom\n" })).toBe(
      "v2:97c5862778475965c53d79fc170695e1bcaf3803610c4007aa02ab7572eb93cb",
    );
  });

  it("tells codes, classes, messages and last lines apart", () => {
    const all = [
      sign({}),
      sign({ code: "EXIT_2" }),
      sign({ class: "resource" }),
      sign({ message: "ended by SIGTERM" }),
      sign({ stderr_tail: "Error: a is not defined" }),
      sign({ stderr_tail: "Error: b is not defined" }),
      sign({ stdout_tail: "FAIL parser" }),
      sign({ stdout_tail: "FAIL lexer" }),
    ];
    expect(new Set(all).size).toBe(all.length);
  });

  it("is the same for every item of a fan-out: numbers, names of files and quoted paths differ", () => {
    const frame = (item: string) =>
      sign({
        message: `exit code 1: corrupt JPEG data in frame ${item.length}`,
        stderr_tail: `cannot decode ${item}.jpg\nsaved to '/out of disk/${item} (1).part'`,
      });
    expect(frame("img-0197")).toBe(frame("cat"));
  });

  it("never masks the code, which may be a number", () => {
    expect(sign({ code: "503" })).not.toBe(sign({ code: "429" }));
  });

  it("keeps numbers where progress is judged: 5 problems are fewer than 8", () => {
    const left = (problems: number) => failure({ stdout_tail: `${problems} problems left` });
    expect(failureSignature(left(8))).toBe(failureSignature(left(5)));
    expect(progressSignature(left(8))).not.toBe(progressSignature(left(5)));
    expect(progressSignature(left(8))).toBe(progressSignature({ ...left(8) }));
  });

  it("reads stdout only where stderr says nothing", () => {
    expect(sign({ stderr_tail: "Error", stdout_tail: "one" })).toBe(
      sign({ stderr_tail: "Error", stdout_tail: "two" }),
    );
    expect(sign({ stderr_tail: " \n---\n42\n", stdout_tail: "one" })).toBe(sign({ stdout_tail: "one" }));
  });

  it("takes no notice of colours, blanks, empty lines and how often a line was repeated", () => {
    expect(sign({ stderr_tail: "\x1b[31mError:\x1b[0m   boom\r\n\n\n" })).toBe(
      sign({ stderr_tail: "Error: boom" }),
    );
    expect(sign({ stderr_tail: "retry 10:00:01\nretry 10:00:02\nretry 10:00:03\ndead" })).toBe(
      sign({ stderr_tail: "retry 11:00:01\ndead" }),
    );
  });

  it("is about the last lines: what came long before does not matter", () => {
    const end = Array.from({ length: 20 }, (_, index) => `frame ${"abcdefghijklmnopqrst"[index]}`).join("\n");
    expect(sign({ stderr_tail: `started well\n${end}` })).toBe(
      sign({ stderr_tail: `started otherwise\n${end}` }),
    );
  });

  it("is taken over 2 KB at most, with room for the last lines beside the longest message", () => {
    const long = failure({ message: "m ".repeat(50_000), stderr_tail: `${"e ".repeat(50_000)}the very end` });
    expect(signedText(long, maskItems)).toHaveLength(2_048);
    expect(signedText(long, maskItems).endsWith("the very end")).toBe(true);
    expect(
      signedText(failure({ code: "c".repeat(5_000), message: "m" }), maskItems).length,
    ).toBeLessThanOrEqual(2_048);
  });

  it("is the same for whatever secret was redacted from the texts before", () => {
    const signWith = (secret: string) => {
      const redactor = createRedactor([{ name: "TOKEN", value: secret }]);
      return sign({ stderr_tail: redactor.redact(`Error: login with ${secret} refused`) });
    };
    expect(signWith("HuNtEr2-MixedCase")).toBe(signWith("oTheR-Secret-99"));
  });
});

const hex = (minLength: number) =>
  fc.string({ unit: fc.constantFrom(..."0123456789abcdef"), minLength, maxLength: 40 });
const two = (n: number) => String(n).padStart(2, "0");
const surroundings = fc.record({
  time: fc
    .date({ min: new Date("1990-01-01"), max: new Date("2100-01-01"), noInvalidDate: true })
    .map((date) => date.toISOString()),
  clock: fc.tuple(fc.nat(23), fc.nat(59), fc.nat(59)).map(([h, m, s]) => `${two(h)}:${two(m)}:${two(s)}`),
  uuid: fc.uuid(),
  hex: hex(7),
  address: hex(1),
  path: fc
    .array(fc.stringMatching(/^[a-z0-9_-]{1,12}$/), { minLength: 1, maxLength: 6 })
    .map((names) => `/${names.join("/")}`),
  pid: fc.integer({ min: 1, max: 4_194_304 }),
  port: fc.integer({ min: 1, max: 65_535 }),
  line: fc.integer({ min: 1, max: 20_000 }),
  duration: fc.oneof(
    fc.nat().map((ms) => `${ms}ms`),
    fc.nat(500).map((s) => `${s / 10} s`),
  ),
  size: fc.integer({ min: 10_000 }),
});
type Surroundings = typeof surroundings extends fc.Arbitrary<infer T> ? T : never;
const told = (what: string, at: Surroundings) =>
  sign({
    message: `${what} after ${at.duration} (pid ${at.pid})`,
    stderr_tail: [
      `${at.time} [${at.pid}]: ${what}`,
      `${at.clock} commit ${at.hex} request ${at.uuid} at 0x${at.address}`,
      `  at run (${at.path}/main.js:${at.line}:${at.line})`,
      `  File "${at.path}/main.py", line ${at.line}, in run`,
      `connect 127.0.0.1:${at.port}, port ${at.port}, ${at.size} bytes`,
    ].join("\n"),
  });

describe("any failure", () => {
  it("has the same signature at another time, in another process and in another place", () => {
    fc.assert(
      fc.property(surroundings, surroundings, (one, other) => {
        expect(told("cannot connect", one)).toBe(told("cannot connect", other));
      }),
      { numRuns: 300 },
    );
  });

  it("has another signature if its words are others", () => {
    const words = fc
      .array(fc.stringMatching(/^[g-z]{2,9}$/), { minLength: 1, maxLength: 5 })
      .map((list) => list.join(" "));
    fc.assert(
      fc.property(words, words, surroundings, (one, other, at) => {
        fc.pre(one !== other);
        expect(told(one, at)).not.toBe(told(other, at));
      }),
    );
  });
});
