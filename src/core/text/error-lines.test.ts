import { describe, expect, it } from "vitest";
import { ERROR_HINTS, looksLikeError } from "./telling-line.js";

const ERRORS = [
  "TypeError: x is undefined",
  "java.lang.NullPointerException",
  "fatal: not a git repository",
  "thread 'main' panicked at src/main.rs",
  "2 tests failed",
  "FAIL src/a.test.ts",
  "cannot find module",
  "I can't do that",
  "could not connect",
  "unable to open the file",
  "permission denied",
  "connection refused",
  "page not found",
  "No such file or directory",
  "Traceback (most recent call last):",
  "AssertionError",
  "aborted (core dumped)",
  "Segmentation fault",
  "Killed",
  "✗ parses the header",
  "✖ 3 problems",
];

describe("a line that looks like an error", () => {
  it.each(ERRORS)("%s", (line) => {
    expect(looksLikeError(line)).toBe(true);
    ERROR_HINTS.lastIndex = 0;
    expect(ERROR_HINTS.test(Buffer.from(line).toString("latin1"))).toBe(true);
  });

  it.each(["0 errors", "no failures", "errors: 0", "without error", "12 passed, 0 failed", "all is well"])(
    "is not: %s",
    (line) => {
      expect(looksLikeError(line)).toBe(false);
    },
  );
});
