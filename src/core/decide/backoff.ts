import type { Backoff } from "../model/definition.js";
import type { Failure } from "../model/failure.js";

/** What the jitter of one retry is drawn from: the same retry of the same run always waits the same time. */
export interface JitterSeed {
  readonly run: number;
  readonly job: number;
  readonly attempt: number;
}

/** A `Retry-After` up to this is always waited for, whatever `max_delay_ms` says; for a longer one a retry is not the answer. */
export const MAX_RETRY_AFTER_MS = 10 * 60 * 1_000;
/** The longest delay a timer can hold: 2^31 - 1 ms, about 24.8 days. */
export const MAX_BACKOFF_MS = 2_147_483_647;

/** The wait before retry number `retry` (from 1). Jitter only lengthens it, and never past the cap. */
export function backoffDelayMs(backoff: Backoff, retry: number, seed: JitterSeed): number {
  const cap = Math.min(backoff.maxDelayMs ?? MAX_BACKOFF_MS, MAX_BACKOFF_MS);
  const base = Math.min(plainDelayMs(backoff, retry), cap);
  const lengthened = base * (1 + backoff.jitter * unitFraction(seed));
  return Math.round(Math.min(lengthened, cap));
}

/** As `backoffDelayMs`, but never sooner than the failure says. Without a policy there is no wait of its own. */
export function retryDelayMs(
  backoff: Backoff | null,
  failure: Pick<Failure, "retry_after_ms">,
  retry: number,
  seed: JitterSeed,
): number {
  const delayMs = backoff === null ? 0 : backoffDelayMs(backoff, retry, seed);
  const askedMs = Math.min(failure.retry_after_ms ?? 0, MAX_BACKOFF_MS);
  return Math.max(delayMs, Math.round(askedMs));
}

function plainDelayMs(backoff: Backoff, retry: number): number {
  switch (backoff.mode) {
    case "none":
      return 0;
    case "fixed":
      return backoff.delayMs;
    case "linear":
      return backoff.delayMs * retry;
    case "exponential":
      // 2 ** 1024 is Infinity, and 0 * Infinity would be NaN.
      return backoff.delayMs === 0 ? 0 : backoff.delayMs * 2 ** (retry - 1);
  }
}

/** A number in [0, 1) that depends on nothing but the seed. */
function unitFraction(seed: JitterSeed): number {
  let hash = 0x9e3779b9;
  for (const part of [seed.run, seed.job, seed.attempt]) {
    hash = mix(hash ^ ((part % 0x1_0000_0000) | 0));
    hash = mix(hash ^ (Math.floor(part / 0x1_0000_0000) | 0));
  }
  return (hash >>> 0) / 0x1_0000_0000;
}

/** The 32-bit finaliser of MurmurHash3: every input bit reaches every output bit. */
function mix(value: number): number {
  let hash = Math.imul(value ^ (value >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return (hash ^ (hash >>> 16)) + 0x6d2b79f5;
}
