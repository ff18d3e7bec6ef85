import { describe, expect, it } from "vitest";
import { heartbeatMs, killMarginMs } from "./protocol.js";

describe("the times of a worker's lease", () => {
  it("are whole milliseconds, whatever the lease", () => {
    for (const leaseMs of [1_000, 5_000, 10_000, 20_000, 90_000]) {
      expect(Number.isInteger(heartbeatMs(leaseMs))).toBe(true);
      expect(Number.isInteger(killMarginMs(leaseMs))).toBe(true);
      expect(3 * heartbeatMs(leaseMs)).toBeLessThanOrEqual(leaseMs);
    }
  });
});
