import type { MessagePort } from "node:worker_threads";
import type { ThreadVerbs, Verb } from "./protocol.js";

/** Whoever has a database carry out verbs: a thread of its own for a file, this thread for one in memory. */
export interface Caller {
  readonly file: string;
  call<V extends Verb>(verb: V, ...args: Parameters<ThreadVerbs[V]>): Promise<ReturnType<ThreadVerbs[V]>>;
  /** With queues among its arguments. Nothing else shares its transaction. */
  callWith<V extends Verb>(
    queues: readonly MessagePort[],
    verb: V,
    ...args: Parameters<ThreadVerbs[V]>
  ): Promise<ReturnType<ThreadVerbs[V]>>;
  close(): Promise<void>;
}
