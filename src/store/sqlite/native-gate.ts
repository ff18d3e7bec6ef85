const IDLE = 0;
const BUSY = 1;
const CLOSED = 2;
/** A call that takes longer than this hangs, and the process leaves all the same. */
const MAX_WAIT_MS = 10_000;

/**
 * Between the thread of a database and the end of its process. Node stops its threads wherever they are, and code of an
 * addon that is stopped while it loads or calls back aborts the whole process. So the thread passes this gate before it
 * calls the addon, and the process shuts the gate before it leaves.
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

  /** Once the gate is shut, nothing is done: nobody waits for the answer any more. */
  pass(work: () => void): void {
    if (Atomics.compareExchange(this.#state, 0, IDLE, BUSY) === CLOSED) return;
    try {
      work();
    } finally {
      Atomics.store(this.#state, 0, IDLE);
      Atomics.notify(this.#state, 0);
    }
  }

  /** Waits for what has passed already. */
  shut(): void {
    const deadline = performance.now() + MAX_WAIT_MS;
    while (Atomics.compareExchange(this.#state, 0, IDLE, CLOSED) === BUSY) {
      const left = deadline - performance.now();
      if (left <= 0) return;
      Atomics.wait(this.#state, 0, BUSY, left);
    }
  }
}
