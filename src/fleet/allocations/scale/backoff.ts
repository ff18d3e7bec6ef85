const FIRST_BACKOFF_MS = 30_000;
const MAX_BACKOFF_MS = 15 * 60_000;

/** After this many allocations in a row without a worker nothing more is submitted. */
export const MAX_FAILURES = 3;

/** How long to wait after `failures` allocations in a row ended without a worker. */
export function backoffMs(failures: number): number {
  return Math.min(FIRST_BACKOFF_MS * 2 ** Math.max(0, failures - 1), MAX_BACKOFF_MS);
}
