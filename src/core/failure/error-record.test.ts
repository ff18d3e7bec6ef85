import { describe, expect, it } from "vitest";
import { judgeEnding } from "./error-record.js";

describe("what ends a job or a run by itself", () => {
  it("has its class by its code: the table's, that of an HTTP status, else the application's", () => {
    const classOf = (code: string) => judgeEnding(code, "m").class;
    expect(["LOOP_BUDGET_EXCEEDED", "RUN_CANCELED", "FAIL_FAST"].map(classOf)).toEqual(
      Array(3).fill("deterministic_policy"),
    );
    expect([classOf("RESET_FAILED"), classOf("STALLED")]).toEqual(["deterministic_repo", "infrastructure"]);
    expect([classOf("503"), classOf("EXIT_3"), classOf("MINE")]).toEqual([
      "transient_runtime",
      "application",
      "application",
    ]);
    expect(judgeEnding("503", "m").retryable).toBe(true);
    expect(judgeEnding("IF_FAILED", "m").retryable).toBe(false);
  });
});
