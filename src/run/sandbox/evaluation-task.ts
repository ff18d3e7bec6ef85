import type { EvaluationResult } from "../../core/model/events.js";
import { refuse, type Verdict, withDuration } from "./check-result.js";
import type { ThreadRequest } from "./quickjs-thread.js";

/** A pending evaluation or rendering. It settles once; later results are ignored. */
export class EvaluationTask {
  readonly request: ThreadRequest;
  readonly deadlineMs: number;
  /** What the deadline measures: the thread's CPU time, which a busy machine does not use up, or wall time. */
  readonly counts: "cpu" | "wall";
  /** Set after a batch with this task in it got stuck. The task then gets a thread to itself. */
  runsAlone = false;
  isSettled = false;
  readonly #resolve: (result: EvaluationResult) => void;
  readonly #signal: AbortSignal | undefined;
  readonly #onAbort: () => void;

  constructor(options: {
    request: ThreadRequest;
    deadlineMs: number;
    counts: "cpu" | "wall";
    signal: AbortSignal | undefined;
    resolve: (result: EvaluationResult) => void;
    onAbort: (task: EvaluationTask) => void;
  }) {
    this.request = options.request;
    this.deadlineMs = options.deadlineMs;
    this.counts = options.counts;
    this.#resolve = options.resolve;
    this.#signal = options.signal;
    this.#onAbort = () => options.onAbort(this);
    this.#signal?.addEventListener("abort", this.#onAbort, { once: true });
  }

  settle(result: EvaluationResult): void {
    if (this.isSettled) return;
    this.isSettled = true;
    this.#signal?.removeEventListener("abort", this.#onAbort);
    this.#resolve(result);
  }

  refuse(code: string, reason: string, durationMs = 0): void {
    const verdict: Verdict = refuse(code, reason);
    this.settle(withDuration(verdict, durationMs));
  }
}
