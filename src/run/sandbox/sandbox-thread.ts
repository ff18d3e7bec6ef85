import type { Worker } from "node:worker_threads";
import type { EvaluationResult } from "../../core/model/events.js";
import { refuse, type Verdict, withDuration } from "./check-result.js";
import { BATCH_PATIENCE_MS, REINFORCE_AFTER_MS } from "./limits.js";
import type { ThreadMessage, ThreadRequest } from "./quickjs-thread.js";
import { afterCpuTime } from "./thread-cpu.js";
import { startThread } from "./thread-file.js";

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

/**
 * Callbacks for the owner of a thread. After `onStuck` and `onDead` the thread is gone, and the callback gets the tasks
 * that it had.
 */
interface ThreadOwner {
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
class SandboxThread {
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

/**
 * A queue and the threads that serve it. Threads start on demand: the first at once, another when work has waited for a
 * busy one. Evaluations are pure, so one whose thread died because of another evaluation simply runs again.
 */
export class ThreadLane implements ThreadOwner {
  readonly #maxThreads: number;
  readonly #batchSize: number;
  #queue: EvaluationTask[] = [];
  readonly #threads = new Set<SandboxThread>();
  #isPumpDue = false;
  #reinforcement: NodeJS.Timeout | undefined;

  constructor(options: { maxThreads: number; batchSize: number }) {
    this.#maxThreads = options.maxThreads;
    this.#batchSize = options.batchSize;
  }

  /** Queues the task. It is sent at the end of the current turn, together with others that were added in it. */
  add(task: EvaluationTask): void {
    this.#queue.push(task);
    if (this.#isPumpDue) return;
    this.#isPumpDue = true;
    queueMicrotask(() => {
      this.#isPumpDue = false;
      this.#pump();
    });
  }

  /** Removes a settled task from the queue. */
  remove(task: EvaluationTask): void {
    this.#queue = this.#queue.filter((queued) => queued !== task);
    const thread = [...this.#threads].find((candidate) => candidate.tasks.includes(task));
    if (thread === undefined) return;
    const others = thread.tasks.filter((other) => other !== task);
    this.#threads.delete(thread);
    void thread.terminate();
    this.#queue.unshift(...others);
    this.#pump();
  }

  async close(refuse: (task: EvaluationTask) => void): Promise<void> {
    const threads = [...this.#threads];
    const tasks = [...threads.flatMap((thread) => thread.tasks), ...this.#queue];
    this.#queue = [];
    this.#threads.clear();
    clearTimeout(this.#reinforcement);
    const ended = threads.map((thread) => thread.terminate());
    for (const task of tasks) refuse(task);
    await Promise.all(ended);
  }

  onIdle(): void {
    this.#pump();
  }

  onStuck(thread: SandboxThread, tasks: readonly EvaluationTask[]): void {
    this.#threads.delete(thread);
    const [only] = tasks;
    if (tasks.length === 1 && only !== undefined) {
      const reason = `it was stopped after ${only.deadlineMs} ms`;
      only.refuse("EXPRESSION_TIMEOUT", reason, only.deadlineMs);
    } else {
      this.#runEachAlone(tasks);
    }
    this.#pump();
  }

  onDead(thread: SandboxThread, tasks: readonly EvaluationTask[], error: Error): void {
    this.#threads.delete(thread);
    if (!thread.isReady) this.#refuseAll(error);
    else if (tasks.length > 1) this.#runEachAlone(tasks);
    else for (const task of tasks) refuseCrashed(task, error);
    this.#pump();
  }

  /** Puts the tasks at the end of the queue, so that the culprit among them does not hold up later ones. */
  #runEachAlone(tasks: readonly EvaluationTask[]): void {
    for (const task of tasks) task.runsAlone = true;
    this.#queue.push(...tasks);
  }

  /** Refuses all queued tasks, because a thread that cannot start would fail again for each of them. */
  #refuseAll(error: Error): void {
    const tasks = this.#queue;
    this.#queue = [];
    for (const task of tasks) task.refuse("SANDBOX_FAILED", `the sandbox could not start: ${error.message}`);
  }

  #pump(): void {
    for (const thread of this.#threads) {
      if (this.#queue.length === 0) return;
      if (thread.isIdle) thread.run(this.#takeBatch());
    }
    if (this.#queue.length === 0) return;
    if (this.#threads.size === 0) this.#threads.add(new SandboxThread(this));
    else this.#callReinforcement();
  }

  #takeBatch(): EvaluationTask[] {
    const firstAlone = this.#queue.findIndex((task) => task.runsAlone);
    const together = firstAlone < 0 ? this.#queue.length : firstAlone;
    return this.#queue.splice(0, Math.max(1, Math.min(this.#batchSize, together)));
  }

  #callReinforcement(): void {
    if (this.#threads.size >= this.#maxThreads || this.#reinforcement !== undefined) return;
    this.#reinforcement = setTimeout(() => {
      this.#reinforcement = undefined;
      const isStarting = [...this.#threads].some((thread) => !thread.isReady);
      if (this.#queue.length === 0 || isStarting) return;
      if (this.#threads.size < this.#maxThreads) this.#threads.add(new SandboxThread(this));
      this.#pump();
    }, REINFORCE_AFTER_MS);
  }
}

function refuseCrashed(task: EvaluationTask, error: Error): void {
  const isMemory = "code" in error && error.code === "ERR_WORKER_OUT_OF_MEMORY";
  if (isMemory) task.refuse("EXPRESSION_MEMORY", "it used too much memory");
  else task.refuse("SANDBOX_FAILED", `the sandbox crashed: ${error.message}`);
}
