import { describe, expect, it } from "vitest";
import { DarumaError, ERROR_CATALOGUE, type ErrorCode } from "../core/errors.js";
import { problemOf, statusOfCode } from "./problem.js";

const CODES = Object.keys(ERROR_CATALOGUE) as ErrorCode[];

describe("the status of a code", () => {
  it("is one that says what kind of answer it is", () => {
    const byStatus = (status: number) => CODES.filter((code) => statusOfCode(code) === status);
    expect(byStatus(500).toSorted()).toEqual(["INTERNAL", "PLATFORM", "STALLED"]);
    // What a workflow names, not what the address does.
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
      // A fault tells nothing of itself but where to look for it; everything else tells what it is.
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
