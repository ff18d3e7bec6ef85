import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { judged } from "../../../test/support/error-record.js";
import type { Backoff } from "../model/definition.js";
import { backoffDelayMs, MAX_BACKOFF_MS, retryDelayMs } from "./backoff.js";

const seed = { run: 1, job: 10_000_001, attempt: 1 };
const backoff = (part: Partial<Backoff>): Backoff => ({
  mode: "fixed",
  delayMs: 1_000,
  maxDelayMs: null,
  jitter: 0,
  ...part,
});
const delays = (policy: Backoff) => [1, 2, 3, 4].map((retry) => backoffDelayMs(policy, retry, seed));

describe("backoffDelayMs", () => {
  it("waits nothing with mode none, whatever delay is set", () => {
    expect(delays(backoff({ mode: "none" }))).toEqual([0, 0, 0, 0]);
  });
  it("waits the same with fixed, one more step with linear, twice as long with exponential", () => {
    expect(delays(backoff({ mode: "fixed" }))).toEqual([1_000, 1_000, 1_000, 1_000]);
    expect(delays(backoff({ mode: "linear" }))).toEqual([1_000, 2_000, 3_000, 4_000]);
    expect(delays(backoff({ mode: "exponential" }))).toEqual([1_000, 2_000, 4_000, 8_000]);
  });
  it("is capped by max_delay_ms", () => {
    expect(delays(backoff({ mode: "exponential", maxDelayMs: 3_000 }))).toEqual([1_000, 2_000, 3_000, 3_000]);
  });
  it("stays a number that a timer can hold after thousands of retries", () => {
    expect(backoffDelayMs(backoff({ mode: "exponential" }), 5_000, seed)).toBe(MAX_BACKOFF_MS);
    expect(backoffDelayMs(backoff({ mode: "exponential", delayMs: 0 }), 5_000, seed)).toBe(0);
  });
  it("only lengthens by jitter, by at most its share, and never past the cap", () => {
    fc.assert(
      fc.property(
        fc.record({ run: fc.nat(), job: fc.maxSafeNat(), attempt: fc.nat() }),
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.integer({ min: 1, max: 10 }),
        (anySeed, jitter, retry) => {
          const plain = backoffDelayMs(backoff({ mode: "linear", maxDelayMs: 7_000 }), retry, anySeed);
          const jittered = backoffDelayMs(
            backoff({ mode: "linear", maxDelayMs: 7_000, jitter }),
            retry,
            anySeed,
          );
          expect(jittered).toBeGreaterThanOrEqual(plain);
          expect(jittered).toBeLessThanOrEqual(Math.min(7_000, Math.ceil(plain * (1 + jitter))));
        },
      ),
    );
  });
  it("draws jitter from run, job and attempt: the same for the same, spread for others", () => {
    const jittered = backoff({ jitter: 1 });
    const draw = (run: number, job: number, attempt: number) =>
      backoffDelayMs(jittered, 1, { run, job, attempt });
    expect(draw(1, 2, 3)).toBe(draw(1, 2, 3));
    expect(new Set([draw(1, 2, 3), draw(2, 2, 3), draw(1, 3, 3), draw(1, 2, 4), draw(2, 1, 3)]).size).toBe(5);
    const many = Array.from({ length: 1_000 }, (_, job) => draw(1, job, 1));
    expect(many.filter((delay) => delay < 1_500).length).toBeGreaterThan(400);
    expect(many.filter((delay) => delay >= 1_500).length).toBeGreaterThan(400);
  });
});

describe("retryDelayMs", () => {
  const asking = (retryAfterMs: number) => judged({ message: "busy", httpStatus: 429, retryAfterMs });
  it("is the backoff when the failure asks for nothing", () => {
    expect(retryDelayMs(backoff({}), judged({ message: "", exitCode: 1 }), 1, seed)).toBe(1_000);
  });
  it("takes Retry-After in place of a shorter backoff, and keeps a longer backoff", () => {
    expect(retryDelayMs(backoff({}), asking(5_000), 1, seed)).toBe(5_000);
    expect(retryDelayMs(backoff({}), asking(10), 1, seed)).toBe(1_000);
  });
  it("waits as long as it is asked to, whatever max_delay_ms says", () => {
    expect(retryDelayMs(backoff({ maxDelayMs: 2_000 }), asking(60_000), 1, seed)).toBe(60_000);
    expect(retryDelayMs(backoff({ mode: "none" }), asking(86_400_000), 1, seed)).toBe(86_400_000);
    expect(retryDelayMs(null, asking(60_000), 1, seed)).toBe(60_000);
    expect(retryDelayMs(null, asking(1e12), 1, seed)).toBe(MAX_BACKOFF_MS);
  });
});
