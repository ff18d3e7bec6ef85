import { Worker } from "node:worker_threads";

let spare: Worker | null = null;

/** Starts the thread that will own a connection. With nothing to do it keeps no program alive. */
export function startDatabaseThread(entry: URL): Worker {
  const thread = new Worker(entry, { name: "daruma-sqlite", execArgv: [] });
  thread.unref();
  return thread;
}

/**
 * A thread for the next store, started before its file is known: to start takes it as long as the program takes to load.
 * One that dies meanwhile is forgotten, and the store's own attempt tells why.
 */
export function keepSpareThread(thread: Worker): void {
  const forget = (): void => {
    if (spare === thread) spare = null;
  };
  thread.once("error", forget).once("exit", forget);
  spare = thread;
}

export function takeSpareThread(): Worker | null {
  const thread = spare;
  spare = null;
  return thread;
}
