import { describe, expect, it } from "vitest";
import { DarumaError, ERROR_CATALOGUE, type ErrorCode } from "../core/errors/errors.js";
import { CONTROL_ACTIONS } from "../operations/controls/plan-control.js";
import { OPERATIONS } from "../operations/operations.js";
import { problemOf, readerOf, statusOfCode } from "./problem.js";

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

describe("the status of a code", () => {
  it("is one that says what kind of answer it is", () => {
    const byStatus = (status: number) => CODES.filter((code) => statusOfCode(code) === status);
    expect(byStatus(500).toSorted()).toEqual(["INTERNAL", "PLATFORM", "STALLED"]);
    // These name something in a workflow, not at the request's address.
    const named = ["WORKSPACE_REF_NOT_FOUND", "WORKSPACE_REPO_NOT_FOUND"];
    expect(byStatus(404)).toEqual(
      CODES.filter((code) => code.endsWith("_NOT_FOUND") && !named.includes(code)),
    );
    expect(byStatus(422)).toEqual(expect.arrayContaining(named));
    expect(statusOfCode("NOT_HELD")).toBe(422);
    expect(statusOfCode("DRAFT_CONFLICT")).toBe(409);
    expect(statusOfCode("WORKSPACE_BUSY")).toBe(409);
    expect(statusOfCode("STORE_FAILED")).toBe(503);
    for (const code of CODES) expect(statusOfCode(code), code).toBeGreaterThanOrEqual(400);
  });

  it("comes with the code, its meaning and what to do, whatever the code", () => {
    for (const code of CODES) {
      const problem = problemOf(new DarumaError(code, "said"));
      expect(problem).toMatchObject({ code, status: statusOfCode(code), title: ERROR_CATALOGUE[code].means });
      // The answer to a fault has only a reference; every other one says what is wrong.
      expect(problem.reference === undefined, code).toBe(problem.detail === "said");
      if (problem.status < 500) expect(problem.detail).toBe("said");
    }
  });

  it("is 500 for whatever was not thrown on purpose, and nothing of it is told", () => {
    for (const thrown of [new TypeError("at line 3"), "a string", null, undefined, { statusCode: 200 }]) {
      const problem = problemOf(thrown);
      expect(problem).toMatchObject({
        status: 500,
        code: "INTERNAL",
        detail: ERROR_CATALOGUE.INTERNAL.means,
      });
      expect(problem.reference).toBeDefined();
    }
  });
});

describe("what to do next", () => {
  it("speaks over REST and MCP of operations and fields, never of commands and flags", () => {
    for (const code of CODES) {
      const { hint } = problemOf(new DarumaError(code, "said"));
      expect(hint, code).not.toMatch(/`daruma |(^|\s)--[a-z]/);
    }
  });

  it("speaks of commands to somebody who asks a server from a command line", () => {
    const refused = new DarumaError("WORKSPACE_BUSY", "said");
    expect(problemOf(refused).hint).toBe("Wait until it ends, or end it with force: true.");
    const reader = readerOf({ "x-daruma-reader": "command-line" });
    expect(problemOf(refused, reader).hint).toBe("Wait until it ends, or end it with --force.");
  });

  it("names only operations and actions that there are", () => {
    const known = new Set<string>([...OPERATIONS.map(({ name }) => name), ...CONTROL_ACTIONS]);
    const verbs = /\b(?:get|list|control|update|create|explain|retry|resume|reset)_[a-z_]+\b/g;
    for (const code of CODES)
      for (const [name] of problemOf(new DarumaError(code, "said")).hint.matchAll(verbs))
        expect(known.has(name), `${code}: ${name}`).toBe(true);
  });
});
