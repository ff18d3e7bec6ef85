/** Time as the engine sees it, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /** Calls once when `at` has come; the answer takes it back. */
  setTimer(at: number, call: () => void): () => void;
  /** Milliseconds since some moment, by a clock that nobody sets: for leases and polls. */
  elapsed(): number;
  /** Calls once after that time by the same clock; the answer takes it back. */
  after(delayMs: number, call: () => void): () => void;
}

/** Longer delays overflow setTimeout and would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(at, call) {
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const left = Math.max(0, at - Date.now());
      // setTimeout follows another clock and may fire a millisecond early; what is not due would then be dropped.
      const fire = (): void => (Date.now() < at ? arm() : call());
      handle = setTimeout(fire, Math.min(left, MAX_TIMEOUT_MS));
    };
    arm();
    return () => clearTimeout(handle);
  },
  elapsed: () => performance.now(),
  after(delayMs, call) {
    const dueAt = performance.now() + delayMs;
    let handle: NodeJS.Timeout;
    const arm = (): void => {
      const left = Math.max(0, dueAt - performance.now());
      handle = left > MAX_TIMEOUT_MS ? setTimeout(arm, MAX_TIMEOUT_MS) : setTimeout(call, left);
    };
    arm();
    return () => clearTimeout(handle);
  },
};
