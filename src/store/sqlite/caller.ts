import type { MessagePort } from "node:worker_threads";
import type { ThreadVerbs, Verb } from "./protocol.js";

/** Has a database execute verbs: on a thread of its own for a file, on this thread for one in memory. */
export interface Caller {
  readonly file: string;
  call<V extends Verb>(verb: V, ...args: Parameters<ThreadVerbs[V]>): Promise<ReturnType<ThreadVerbs[V]>>;
  /** Calls a verb whose arguments include queues. Nothing else shares its transaction. */
  callWith<V extends Verb>(
    queues: readonly MessagePort[],
    verb: V,
    ...args: Parameters<ThreadVerbs[V]>
  ): Promise<ReturnType<ThreadVerbs[V]>>;
  close(): Promise<void>;
}
