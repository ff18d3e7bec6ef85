import type { Store } from "../store/store.js";
import type { RunHost } from "./run-host.js";
import type { RunListeners } from "./run-listeners.js";

/** Writes what a host has decided that no longer belongs to an engine, at once and by itself. */
export async function writeLast(host: RunHost, store: Store, listeners: RunListeners): Promise<void> {
  const drained = host.drain();
  await store.commit([drained.append]);
  listeners.tell(host.run, drained.events);
}
