import { Worker } from "node:worker_threads";
import { NativeGate } from "./native-gate.js";

let spare: Worker | null = null;
/** The gates of all threads of this process. A program that opens many stores has many of them. */
const gates = new Set<NativeGate>();
process.once("exit", () => {
  for (const gate of gates) gate.shut();
});

/** Starts the thread that will own a connection. While idle it does not keep the program alive. */
export function startDatabaseThread(entry: URL): Worker {
  const memory = NativeGate.memory();
  const thread = new Worker(entry, { name: "daruma-sqlite", execArgv: [], workerData: memory });
  thread.unref();
  const gate = new NativeGate(memory);
  gates.add(gate);
  thread.once("exit", () => gates.delete(gate));
  return thread;
}

/**
 * Keeps a thread for the next store, started before its file is known, because starting takes it as long as the program
 * takes to load. If it dies meanwhile it is forgotten, and the store's own attempt reports why.
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
