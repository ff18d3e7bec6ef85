import { describe, expect, it } from "vitest";
import { judged } from "../../../test/support/error-record.js";
import type { Failure } from "../model/failure.js";
import { NEW_HEAL_STATE } from "../model/heal-state.js";
import { judgeProgress, noteFailure } from "./no-progress.js";

const exit = (code: number, diffHash: string | null = "d") =>
  judged({ message: `exit code ${code}`, exitCode: code, diffHash });

/** For each failure in turn: the streak at which the limit was reached, "osc" for one to and fro, or null. */
function verdicts(limit: number, ...failures: Failure[]): (number | "osc" | null)[] {
  let heal = NEW_HEAL_STATE;
  return failures.map((failure) => {
    const found = judgeProgress(heal, failure, limit);
    heal = noteFailure(heal, failure, found);
    if (found === null) return null;
    return found.oscillation ? "osc" : found.streak;
  });
}

describe("no-progress detection", () => {
  it("counts failures in a row with the same signature and the same diff, the first included", {
    tags: ["M7"],
  }, () => {
    expect(verdicts(2, exit(1), exit(1))).toEqual([null, 2]);
    expect(verdicts(3, exit(1), exit(1), exit(1), exit(1))).toEqual([null, null, 3, 4]);
    expect(verdicts(1, exit(1))).toEqual([1]);
  });

  it("begins anew when the failure or the diff is another", { tags: ["M7"] }, () => {
    expect(verdicts(2, exit(1), exit(2), exit(2))).toEqual([null, null, 2]);
    expect(verdicts(2, exit(1, "a"), exit(1, "b"), exit(1, "b"))).toEqual([null, null, 2]);
  });

  it("begins anew where fewer problems are left, although the book calls it the same failure", () => {
    const left = (problems: number) =>
      judged({ message: "exit code 1", exitCode: 1, stdoutTail: `${problems} problems left` });
    expect(left(8).signature).toBe(left(5).signature);
    expect(verdicts(2, left(8), left(5), left(3), left(3))).toEqual([null, null, null, 2]);
  });

  it("knows the same failure again whatever its times and paths", () => {
    const at = (time: string) =>
      judged({ message: `failed at 2026-01-01T00:00:${time}Z in /tmp/x${time}`, exitCode: 1 });
    expect(verdicts(2, at("01"), at("59"))).toEqual([null, 2]);
  });

  it("takes an empty diff for no progress, and a step without workspace for one", { tags: ["M7"] }, () => {
    expect(verdicts(2, exit(1, "a"), exit(1, null))).toEqual([null, 2]);
    expect(verdicts(2, exit(1, null), exit(1, null))).toEqual([null, 2]);
    expect(verdicts(2, exit(1, null), exit(1, "a"))).toEqual([null, null]);
  });

  it("sees A, B, A, B, but not A, B, A, C", () => {
    expect(verdicts(9, exit(1), exit(2), exit(1), exit(2))).toEqual([null, null, null, "osc"]);
    expect(verdicts(9, exit(1), exit(2), exit(1), exit(3))).toEqual([null, null, null, null]);
    expect(verdicts(9, exit(1, "a"), exit(1, "b"), exit(1, "a"), exit(1, "b"))).toEqual([
      null,
      null,
      null,
      "osc",
    ]);
    expect(verdicts(9, exit(3), exit(1), exit(2), exit(1), exit(2))).toEqual([null, null, null, null, "osc"]);
  });

  it.each([
    ["429", { httpStatus: 429, message: "m" }],
    ["500", { httpStatus: 500, message: "m" }],
    ["503", { httpStatus: 503, message: "m" }],
    ["529", { httpStatus: 529, message: "m" }],
    ["a network error", { errno: "ECONNREFUSED", message: "m" }],
    ["a lost worker", { lost: true, message: "m" }],
  ])("never counts %s, nor lets it end a streak", (_, facts) => {
    const outage = judged(facts);
    expect(verdicts(1, outage, outage)).toEqual([null, null]);
    expect(verdicts(2, exit(1), outage, exit(1))).toEqual([null, null, 2]);
  });

  it.each([
    ["a contract failure", { httpStatus: 422, message: "m" }],
    ["a policy failure", { httpStatus: 401, message: "m" }],
    ["a missing credential", { code: "MISSING_SECRET", message: "m" }],
    ["a capability that is not there", { code: "NO_WORKER", message: "m" }],
    ["a repository failure", { code: "REPO_ERROR", message: "m" }],
    ["a resource failure", { code: "OOM", message: "m" }],
    ["what the step calls final", { exitCode: 1, message: "m", declared: { retryable: false } }],
  ])("never makes %s look worth another try, even with a limit of 1", { tags: ["M8"] }, (_, facts) => {
    expect(verdicts(1, judged(facts), judged(facts))).toEqual([null, null]);
  });

  it("counts timeouts, idle ones too", () => {
    const idle = judged({ timeout: "idle", message: "silent" });
    const wall = judged({ timeout: "wall", message: "slow" });
    expect(verdicts(2, idle, idle)).toEqual([null, 2]);
    expect(verdicts(2, wall, wall)).toEqual([null, 2]);
  });
});
