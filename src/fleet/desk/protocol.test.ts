import { describe, expect, it } from "vitest";
import { heartbeatMs, killMarginMs, reports } from "./protocol.js";

describe("the times of a worker's lease", () => {
  it("are whole milliseconds, whatever the lease", () => {
    for (const leaseMs of [1_000, 5_000, 10_000, 20_000, 90_000]) {
      expect(Number.isInteger(heartbeatMs(leaseMs))).toBe(true);
      expect(Number.isInteger(killMarginMs(leaseMs))).toBe(true);
      expect(3 * heartbeatMs(leaseMs)).toBeLessThanOrEqual(leaseMs);
    }
  });
});

describe("user data in a report", () => {
  const isTaken = (user_data: unknown): boolean =>
    reports.safeParse({
      reports: [
        {
          ...{ job: 1, attempt: 1, recovery: false, token: "t", logs: [], summary: null },
          outcome: { kind: "succeeded", output: { kind: "value", value: null }, user_data },
        },
      ],
    }).success;

  it("is bounded in size and depth, whatever a worker sends", () => {
    expect(isTaken({ v: { a: [1, null] } })).toBe(true);
    expect(isTaken({ v: "x".repeat(64 * 1024) })).toBe(false);
    expect(isTaken({ v: JSON.parse("[".repeat(30_000) + "]".repeat(30_000)) })).toBe(false);
    expect(isTaken([1])).toBe(false);
  });
});
