import { resolve } from "node:path";
import type { StoreInspection } from "../inspect/store-inspection.js";
import type { Store } from "../store.js";
import { threadEntry } from "../thread-entry.js";
import { startDatabaseThread, takeSpareThread } from "./database-thread.js";
import { createStore } from "./store-verbs.js";
import { ThreadClient } from "./thread-client.js";

/** Opens a database file as a store. The file and its folder are created if they are missing. */
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

/** Inspects a file on a thread of its own, so that checking a large one delays nobody else. */
export async function inspectSqliteFile(file: string, full: boolean): Promise<StoreInspection> {
  const worker = startDatabaseThread(threadEntry(import.meta.url, "./sqlite-thread.js"));
  const thread = new ThreadClient(worker, file);
  try {
    return await thread.call("inspect", resolve(file), full);
  } finally {
    await thread.terminate();
  }
}
