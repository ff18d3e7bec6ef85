import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { failureOf } from "../../../test/support/error-record.js";
import { MAX_FAILURE_SUMMARY_CHARS, summariseFailure } from "./failure-summary.js";

interface Seen {
  readonly message?: string;
  readonly signal?: string;
  readonly stdout?: string;
  readonly stderr?: string;
}

const summarise = ({ message = "exited with code 1", signal, stdout = "", stderr = "" }: Seen = {}) =>
  summariseFailure(
    failureOf({
      ...{ code: "EXIT_1", message, exit_code: 1, signal: signal ?? null, attempt: 2 },
      ...{ stdout_tail: stdout, stderr_tail: stderr },
    }),
  );

describe("summariseFailure", () => {
  it("says what failed, the first error and the last lines", () => {
    const stderr =
      "warming up\n\x1b[31mTypeError:\x1b[0m x is not a function\n    at run (/a/b.js:1:2)\n\nnpm failed\n";
    expect(summarise({ stderr, stdout: "hello" })).toBe(
      [
        "Attempt 2 failed: EXIT_1 (application), exit code 1.",
        "Message: exited with code 1",
        "First error on stderr: TypeError: x is not a function",
        "Last lines of stderr:",
        "  warming up",
        "  TypeError: x is not a function",
        "  at run (/a/b.js:1:2)",
        "  npm failed",
      ].join("\n"),
    );
  });

  it("names the signal instead of the exit code", () => {
    expect(summarise({ signal: "SIGSEGV" })).toContain("EXIT_1 (application), signal SIGSEGV.\n");
  });

  it("looks at stdout where stderr has nothing to say", () => {
    const summary = summarise({ stderr: "just a note", stdout: "ok 1\nFAIL parser\nok 2" });
    expect(summary).toContain("First error on stdout: FAIL parser");
    expect(summary).toContain("Last lines of stderr:\n  just a note");
    expect(summarise({ stdout: "one\ntwo" })).toContain("Last lines of stdout:\n  one\n  two");
  });

  it("says so when nothing was printed", () => {
    expect(summarise()).toMatch(/\nIt printed nothing\.$/);
  });

  it("folds lines that differ only in times and ids, with their count", () => {
    const stderr = Array.from(
      { length: 14 },
      (_, index) => `10:00:${10 + index} retrying, pid ${index}`,
    ).join("\n");
    expect(summarise({ stderr: `${stderr}\ngave up` })).toMatch(
      /Last lines of stderr:\n {2}10:00:23 retrying, pid 13 \(14 times\)\n {2}gave up$/,
    );
  });

  it("is not misled by a line that says there was no error", () => {
    const stderr =
      "0 errors, fine\nno errors found\nerrors: 0\nfailed: 0\n12 passed, 0 failed\nERR! cannot write";
    expect(summarise({ stderr })).toContain("First error on stderr: ERR! cannot write");
  });

  it("does not say the same twice", () => {
    expect(summarise({ message: "Error: boom in line", stderr: "Error: boom" })).not.toContain("First error");
  });

  it("keeps the newest lines when not all fit", () => {
    const stderr = Array.from(
      { length: 100 },
      (_, index) => `${"abcdefghij"[index % 10]}${"klmnopqrst"[Math.floor(index / 10)]} ${"x ".repeat(60)}`,
    ).join("\n");
    const summary = summarise({ stderr: `${stderr}\nthe very last` });
    expect(summary.length).toBeLessThanOrEqual(MAX_FAILURE_SUMMARY_CHARS);
    expect(summary).toMatch(/\n {2}the very last$/);
    expect(summary).not.toContain("ak x");
  });

  it("never has more than 1,000 characters or half of one, and is the same each time", () => {
    const texts = fc.oneof(
      fc.string({ unit: "binary", maxLength: 300 }),
      fc
        .array(fc.string({ unit: "grapheme", maxLength: 300 }), { maxLength: 20 })
        .map((lines) => lines.join("\n")),
      fc.nat(3_000).map((length) => "error 😀".repeat(length)),
    );
    fc.assert(
      fc.property(texts, texts, texts, (message, stdout, stderr) => {
        const summary = summarise({ message, stdout, stderr });
        expect(summary.length).toBeLessThanOrEqual(MAX_FAILURE_SUMMARY_CHARS);
        expect(summary).not.toMatch(/\p{Cs}/u);
        expect(summarise({ message, stdout, stderr })).toBe(summary);
      }),
      { numRuns: 50 },
    );
  });
});
