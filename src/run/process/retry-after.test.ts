import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { llmFailure } from "../action/llm-call.js";
import { readDeclaredFailure } from "./attempt-files.js";
import { readRetryAfter } from "./retry-after.js";

const LONGEST_MS = 2 ** 31 - 1;
const DIGITS = "9".repeat(400);

describe("a wait that is longer than any timer", () => {
  it.each([DIGITS, "99999999999", "Fri, 01 Jan 9999 00:00:00 GMT"])(
    "is the longest one where Retry-After asks for it: %.40s",
    (text) => {
      expect(readRetryAfter(new Headers({ "retry-after": text }), 0)).toBe(LONGEST_MS);
    },
  );

  it.each(["1e400", DIGITS, "3e9"])("is the longest one where a step declares it: %.40s", (text) => {
    const file = join(mkdtempSync(join(tmpdir(), "daruma-wait-")), "failure.json");
    writeFileSync(file, `{"retry_after_ms": ${text}}`);
    expect(readDeclaredFailure(file)).toEqual({ declared: { retryAfterMs: LONGEST_MS }, defect: "" });
  });

  it.each(["1e400", "3e9"])("is the longest one where a model's provider asks for it: %s", (text) => {
    const error = { statusCode: 429, message: "busy", responseHeaders: { "retry-after-ms": text } };
    expect(llmFailure(error, null, 0).retryAfterMs).toBe(LONGEST_MS);
  });
});
