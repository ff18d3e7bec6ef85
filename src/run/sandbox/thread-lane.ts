import type { EvaluationTask } from "./evaluation-task.js";
import { REINFORCE_AFTER_MS } from "./limits.js";
import { SandboxThread, type ThreadOwner } from "./sandbox-thread.js";

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
