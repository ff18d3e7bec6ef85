import { Worker } from "node:worker_threads";
import { NativeGate } from "./native-gate.js";

let spare: Worker | null = null;
/** Of all threads of this process, which are many in a program that opens many stores. */
const gates = new Set<NativeGate>();
process.once("exit", () => {
  for (const gate of gates) gate.shut();
});

/** Starts the thread that will own a connection. With nothing to do it keeps no program alive. */
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
