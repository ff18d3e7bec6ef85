import { describe, expect, it } from "vitest";
import { DarumaError } from "../../core/errors/errors.js";
import { exitCodeOfError, exitCodeOfRun } from "./exit-codes.js";

describe("exit codes", () => {
  it.each([
    ["completed", 0],
    ["failed", 1],
    ["held", 3],
    ["paused", 3],
    ["canceled", 4],
  ] as const)("a run that is %s gives %i", (status, code) => {
    expect(
      exitCodeOfRun({
        status,
        strict: false,
        handled_failures: [],
        decided: [],
        handled_in_children: [],
        held_below: [],
      }),
    ).toBe(code);
    expect(
      exitCodeOfRun({
        status,
        strict: true,
        handled_failures: [],
        decided: [],
        handled_in_children: [],
        held_below: [],
      }),
    ).toBe(code);
    expect(
      exitCodeOfRun({
        status,
        strict: false,
        handled_failures: [{}],
        decided: [],
        handled_in_children: [],
        held_below: [],
      }),
    ).toBe(code);
  });

  it("a strict run that completed with a handled failure gives 1; one that ended otherwise its own", () => {
    const strict = {
      strict: true,
      handled_failures: [{}],
      decided: [],
      handled_in_children: [],
      held_below: [],
    };
    expect(exitCodeOfRun({ ...strict, status: "completed" })).toBe(1);
    const child = {
      strict: true,
      handled_failures: [],
      decided: [],
      handled_in_children: [{ status: "completed", failures: 1, decided: [] }],
      held_below: [],
    };
    expect(exitCodeOfRun({ ...child, status: "completed" })).toBe(1);
    expect(exitCodeOfRun({ ...strict, status: "held" })).toBe(3);
    expect(exitCodeOfRun({ ...strict, status: "canceled" })).toBe(4);
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
