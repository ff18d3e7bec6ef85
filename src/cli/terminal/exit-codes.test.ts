import { describe, expect, it } from "vitest";
import { DarumaError } from "../../core/errors/errors.js";
import { exitCodeOfError, exitCodeOfStatus } from "./exit-codes.js";

describe("exit codes", () => {
  it.each([
    ["completed", 0],
    ["failed", 1],
    ["held", 3],
    ["paused", 3],
    ["canceled", 4],
  ] as const)("a run that is %s gives %i", (status, code) => {
    expect(exitCodeOfStatus(status)).toBe(code);
  });

  it.each([
    ["USAGE", 2],
    ["INVALID_INPUT", 2],
    ["UNKNOWN_KEY", 2],
    ["FILE_NOT_FOUND", 2],
    ["RUN_NOT_FOUND", 2],
    ["STORE_FAILED", 5],
    ["STORE_GONE", 5],
    ["STORE_DAMAGED", 5],
    ["STORE_VERSION", 5],
    ["LEASE_LOST", 5],
    ["RUN_OWNED", 5],
  ] as const)("the error %s gives %i", (code, exitCode) => {
    expect(exitCodeOfError(new DarumaError(code, "x"))).toBe(exitCode);
  });

  it("an error that nobody expected gives 5", () => {
    expect(exitCodeOfError(new TypeError("x"))).toBe(5);
  });
});
