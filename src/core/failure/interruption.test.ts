import { describe, expect, it } from "vitest";
import { judged } from "../../../test/support/error-record.js";
import type { Outcome } from "../model/outcome.js";
import { endedBefore, interrupted, wasInterrupted } from "./interruption.js";

const SUCCEEDED: Outcome = { kind: "succeeded", output: { kind: "value", value: null } };

describe("an attempt was interrupted", () => {
  it("if its exit was collected when its end had begun, or within the slack before", () => {
    const begun = { at: 10_000, slackMs: 500 };
    expect([9_499, 9_500, 10_000, 99_000].map((at) => wasInterrupted(at, begun))).toEqual([
      ...[false, true, true, true],
    ]);
  });

  it("unless it was canceled, timed out, was lost, or passed its own memory or time", () => {
    const failed = (facts: object): Outcome => ({ kind: "failed", facts: { message: "", ...facts } });
    const first = [
      ...[{ timeout: "wall" }, { timeout: "idle" }, { evicted: true }, { lost: true }],
      ...[{ code: "OOM" }, { code: "WALLTIME" }],
    ];
    expect([{ kind: "stopped" } as const, ...first.map(failed)].map(endedBefore)).toEqual(
      Array(7).fill(true),
    );
    expect([SUCCEEDED, failed({ exitCode: 3 }), failed({ code: "OUTPUT_INVALID" })].map(endedBefore)).toEqual(
      [...[false, false, false]],
    );
  });

  it("with a success too, and whatever it said of its failure meanwhile", () => {
    const result = interrupted(SUCCEEDED);
    expect(result).toEqual({
      kind: "failed",
      facts: { exitCode: 0, evicted: true, message: "exited with 0 while its worker was being stopped" },
    });
    const declared = { code: "NO_DATA", message: "nothing there", retryable: false };
    const told = interrupted({ kind: "failed", facts: { message: "", exitCode: 4, declared } });
    expect(told.kind === "failed" && judged(told.facts)).toMatchObject({
      ...{ code: "EVICTED", class: "infrastructure", retryable: true, final: false, exit_code: 4 },
      message: "exited with 4 while its worker was being stopped",
    });
  });
});
