import type { MessagePort, Worker } from "node:worker_threads";
import { DarumaError } from "../../core/errors/errors.js";
import type { Caller, Request, Response, ThreadVerbs, Verb } from "./protocol.js";

interface Waiting {
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** The calling side of the database thread: one message there and one back for each call. */
export class ThreadClient implements Caller {
  readonly #worker: Worker;
  readonly #file: string;
  readonly #waiting = new Map<number, Waiting>();
  readonly #ended: Promise<void>;
  #lastId = 0;
  #whyUnusable: string | null = null;

  constructor(worker: Worker, file: string) {
    this.#file = file;
    this.#worker = worker;
    this.#worker.on("message", (responses: readonly Response[]) => this.#settle(responses));
    this.#worker.on("error", (error) => this.#fail(`the database thread crashed: ${error.message}`));
    this.#ended = new Promise((resolve) => {
      this.#worker.on("exit", (code) => {
        this.#fail(`the database thread ended (code ${code})`);
        resolve();
      });
    });
  }

  get file(): string {
    return this.#file;
  }

  call<V extends Verb>(verb: V, ...args: Parameters<ThreadVerbs[V]>): Promise<ReturnType<ThreadVerbs[V]>> {
    return this.callWith([], verb, ...args);
  }

  /**
   * Calls a verb whose arguments include queues, which are transferred to the thread. Nothing else shares its
   * transaction.
   */
  callWith<V extends Verb>(
    queues: readonly MessagePort[],
    verb: V,
    ...args: Parameters<ThreadVerbs[V]>
  ): Promise<ReturnType<ThreadVerbs[V]>> {
    return new Promise((resolve, reject) => {
      if (this.#whyUnusable !== null) return reject(this.#unusable(this.#whyUnusable));
      this.#lastId += 1;
      // An idle thread must not keep a program alive that forgot to close its store.
      if (this.#waiting.size === 0) this.#worker.ref();
      this.#waiting.set(this.#lastId, { resolve: resolve as Waiting["resolve"], reject });
      const request: Request = { id: this.#lastId, verb, args, alone: queues.length > 0 };
      this.#worker.postMessage(request, queues);
    });
  }

  /**
   * Finishes earlier calls and refuses later ones. SQLite releases the file, and moves its log into it, only when the
   * thread has ended: a copy of `daruma.db` after a run must contain the run.
   */
  async close(): Promise<void> {
    if (this.#whyUnusable === null) {
      const closed = this.call("close");
      this.#whyUnusable = "the store is closed";
      await closed;
    }
    this.#worker.ref();
    await this.#ended;
  }

  async terminate(): Promise<void> {
    await this.#worker.terminate();
  }

  #settle(responses: readonly Response[]): void {
    for (const response of responses) {
      const waiting = this.#waiting.get(response.id);
      this.#waiting.delete(response.id);
      if ("error" in response) {
        const { code, message, hint } = response.error;
        waiting?.reject(new DarumaError(code, message, { hint }));
      } else waiting?.resolve(response.value);
    }
    if (this.#waiting.size === 0) this.#worker.unref();
  }

  #fail(why: string): void {
    this.#whyUnusable ??= why;
    for (const { reject } of this.#waiting.values()) reject(this.#unusable(why));
    this.#waiting.clear();
  }

  #unusable(why: string): DarumaError {
    return new DarumaError("STORE_FAILED", `${this.#file}: ${why}`);
  }
}
