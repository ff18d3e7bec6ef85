import { resolve } from "node:path";
import type { StoreInspection } from "../inspect/store-inspection.js";
import type { Store } from "../store.js";
import { threadEntry } from "../thread-entry.js";
import { startDatabaseThread, takeSpareThread } from "./database-thread.js";
import { createStore } from "./store-verbs.js";
import { ThreadClient } from "./thread-client.js";

/** Open a database file as a store; the file and its folder are made where they are missing. */
export async function openSqliteStore(options: { readonly file: string }): Promise<Store> {
  const file = resolve(options.file);
  const worker = takeSpareThread() ?? startDatabaseThread(threadEntry(import.meta.url, "./sqlite-thread.js"));
  const thread = new ThreadClient(worker, file);
  try {
    await thread.call("open", file);
  } catch (error) {
    await thread.terminate();
    throw error;
  }
  return createStore(thread, inspectSqliteFile);
}

/** On a thread of its own: whoever looks through a large file keeps nobody else waiting. */
export async function inspectSqliteFile(file: string, full: boolean): Promise<StoreInspection> {
  const worker = startDatabaseThread(threadEntry(import.meta.url, "./sqlite-thread.js"));
  const thread = new ThreadClient(worker, file);
  try {
    return await thread.call("inspect", resolve(file), full);
  } finally {
    await thread.terminate();
  }
}
