/** The engine's time, which tests can control. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls once when `at` has come, or when the time left until `at` has passed, even if the wall clock was changed
   * meanwhile. Returns a function that cancels the timer.
   */
  setTimer(at: number, call: () => void): () => void;
  /** Milliseconds on a monotonic clock, for leases and polls. */
  elapsed(): number;
  /** Calls once after this time on the monotonic clock. Returns a function that cancels the timer. */
  after(delayMs: number, call: () => void): () => void;
}

/** How soon a timer notices that the clock was set forward, or that the machine has slept. */
const LOOK_AGAIN_MS = 60_000;
/** Longer delays overflow setTimeout and would fire at once. */
const MAX_TIMEOUT_MS = 2 ** 31 - 1;

export const systemClock: Clock = {
  now: () => Date.now(),
  setTimer(at, call) {
    const dueAt = performance.now() + Math.max(0, at - Date.now());
    let handle: NodeJS.Timeout;
    // setTimeout may fire a millisecond early.
    const look = (): void => (Date.now() >= at || performance.now() >= dueAt ? call() : arm());
    const arm = (): void => {
      const left = Math.max(0, Math.min(at - Date.now(), dueAt - performance.now()));
      handle = setTimeout(look, Math.min(left, LOOK_AGAIN_MS));
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
