import { describe, expect, it } from "vitest";
import { failureOf } from "../../../test/support/error-record.js";
import type { Failure } from "../model/failure.js";
import { judgeEnding, readFailure, readRecord, runError } from "./error-record.js";
import { failureSignature } from "./signature.js";

describe("a record of an older log", () => {
  const now = failureOf({ timestamp: "2023-11-14T22:13:20.000Z", changed_files: [] });
  const signature = failureSignature(now);
  const old = { ...now, timestamp: 1_700_000_000_000, signature } as unknown as Failure;

  it("is read as one of today: its time is text", () => {
    expect(readFailure(old)).toEqual({ ...now, signature });
  });

  it("is read as one of today although it lacks what came later", () => {
    const { signature: _s, diff_hash: _d, original_class: _o, changed_files: _f, cause: _c, ...first } = old;
    expect(readFailure(first as Failure)).toEqual({ ...now, signature });
  });

  it("of today is left as it is", () => {
    expect(readFailure(now)).toBe(now);
  });
});

describe("a row of an older table", () => {
  const place = { step_id: "a", job_id: 10_000_001, attempt: null, at: 0 };

  it("with nothing but code and message is filled up with what these say", () => {
    expect(readRecord({ code: "DEPENDENCY_FAILED", message: "b failed" }, place)).toEqual({
      ...runError(judgeEnding("DEPENDENCY_FAILED", "b failed"), null, 0),
      ...{ step_id: "a", job_id: 10_000_001, timestamp: "1970-01-01T00:00:00.000Z" },
    });
  });

  it("with a whole record gives that", () => {
    const whole = failureOf();
    expect(readRecord(whole, place)).toBe(whole);
  });
});

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
