const IDLE = 0;
const BUSY = 1;
const CLOSED = 2;
/** If a call takes longer than this it hangs, and the process exits all the same. */
const MAX_WAIT_MS = 10_000;

/**
 * A gate between a database's thread and the end of the process. Node stops its threads anywhere, and an addon's code
 * that is stopped while it loads or calls back aborts the whole process. So the thread passes this gate before it calls
 * the addon, and the process closes it before it exits.
 */
export class NativeGate {
  readonly #state: Int32Array;

  /** @param memory 4 bytes that both threads share */
  constructor(memory: SharedArrayBuffer) {
    this.#state = new Int32Array(memory);
  }

  static memory(): SharedArrayBuffer {
    return new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
  }

  /** Does the work, or nothing once the gate is closed, because nobody waits for the answer any more. */
  pass(work: () => void): void {
    if (Atomics.compareExchange(this.#state, 0, IDLE, BUSY) === CLOSED) return;
    try {
      work();
    } finally {
      Atomics.store(this.#state, 0, IDLE);
      Atomics.notify(this.#state, 0);
    }
  }

  /** Closes the gate and waits for work that has already passed. */
  shut(): void {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (Atomics.compareExchange(this.#state, 0, IDLE, CLOSED) === BUSY) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      Atomics.wait(this.#state, 0, BUSY, left);
    }
  }
}
