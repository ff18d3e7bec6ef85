import type { Worker } from "node:worker_threads";
import type { EvaluationTask } from "./evaluation-task.js";
import { BATCH_PATIENCE_MS } from "./limits.js";
import type { ThreadMessage } from "./quickjs-thread.js";
import { afterCpuTime } from "./thread-cpu.js";
import { startThread } from "./thread-file.js";

/**
 * Callbacks for the owner of a thread. After `onStuck` and `onDead` the thread is gone, and the callback gets the tasks
 * that it had.
 */
export interface ThreadOwner {
  onIdle(thread: SandboxThread): void;
  onStuck(thread: SandboxThread, tasks: readonly EvaluationTask[]): void;
  onDead(thread: SandboxThread, tasks: readonly EvaluationTask[], error: Error): void;
}

/**
 * Node ends a thread, and not the process, that exceeds these. The stack must hold whatever QuickJS does within
 * STACK_LIMIT_BYTES, which counts only part of it: with 4 MB, code in 3,000 brackets crashed the thread.
 */
const RESOURCE_LIMITS = { maxOldGenerationSizeMb: 128, stackSizeMb: 16 };

/** One worker thread, running one batch at a time. */
export class SandboxThread {
  readonly #worker: Worker;
  readonly #owner: ThreadOwner;
  #tasks: readonly EvaluationTask[] = [];
  #endWatch: () => void = () => {};
  #threadId: number | null | undefined;
  isReady = false;
  #isGone = false;

  constructor(owner: ThreadOwner) {
    this.#owner = owner;
    this.#worker = startThread(new URL("./quickjs-thread.js", import.meta.url), {
      env: {},
      resourceLimits: RESOURCE_LIMITS,
    });
    this.#worker.on("message", (message: ThreadMessage) => this.#receive(message));
    this.#worker.on("error", (error) => this.#die(error instanceof Error ? error : new Error(String(error))));
    this.#worker.on("exit", () => this.#die(new Error("the thread ended")));
  }

  get isIdle(): boolean {
    return this.isReady && this.#tasks.length === 0;
  }

  get tasks(): readonly EvaluationTask[] {
    return this.#tasks;
  }

  run(tasks: readonly EvaluationTask[]): void {
    this.#tasks = tasks;
    this.#worker.ref();
    this.#worker.postMessage(tasks.map((task) => task.request));
    const only = tasks.length === 1 ? tasks[0] : undefined;
    const limitMs = only?.deadlineMs ?? BATCH_PATIENCE_MS;
    const giveUp = (): void => this.#giveUpOn(tasks);
    if (only?.counts === "wall") {
      const timer = setTimeout(giveUp, limitMs);
      this.#endWatch = () => clearTimeout(timer);
    } else this.#endWatch = afterCpuTime(() => this.#threadId, limitMs, giveUp);
  }

  /** Ends the thread even in the middle of a task. */
  async terminate(): Promise<void> {
    this.#leave();
    await this.#worker.terminate();
  }

  /** Takes the tasks away and ignores every later message of this thread. */
  #leave(): readonly EvaluationTask[] {
    const tasks = this.#tasks;
    this.#isGone = true;
    this.#tasks = [];
    this.#endWatch();
    return tasks;
  }

  /**
   * Terminates the thread after one more turn of the event loop: if this process was held up, the answer may have
   * arrived but not been read yet.
   */
  #giveUpOn(tasks: readonly EvaluationTask[]): void {
    setImmediate(() => {
      if (this.#isGone || this.#tasks !== tasks) return;
      void this.#worker.terminate();
      this.#owner.onStuck(this, this.#leave());
    });
  }

  #receive(message: ThreadMessage): void {
    if (this.#isGone) return;
    if ("threadId" in message) {
      this.isReady = true;
      this.#threadId = message.threadId;
    } else {
      this.#endWatch();
      const tasks = this.#tasks;
      this.#tasks = [];
      for (const [index, task] of tasks.entries()) task.settle(message[index]!);
    }
    this.#worker.unref();
    this.#owner.onIdle(this);
  }

  #die(error: Error): void {
    if (this.#isGone) return;
    this.#owner.onDead(this, this.#leave(), error);
  }
}
