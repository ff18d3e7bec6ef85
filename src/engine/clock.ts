/** Time as the engine sees it, so that tests can hold it still. */
export interface Clock {
  /** Milliseconds since the epoch. */
  now(): number;
  /**
   * Calls once when `at` has come, or when as much time has passed as there was until then, whatever the clock on the
   * wall was set to meanwhile; the answer takes it back.
   */
  setTimer(at: number, call: () => void): () => void;
  /** Milliseconds since some moment, by a clock that nobody sets: for leases and polls. */
  elapsed(): number;
  /** Calls once after that time by the same clock; the answer takes it back. */
  after(delayMs: number, call: () => void): () => void;
}

/** How soon a timer sees that the clock was set forward, or that the machine has slept. */
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
