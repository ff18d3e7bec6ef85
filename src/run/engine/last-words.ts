import type { Store } from "../../store/store.js";
import type { RunHost } from "./run-host.js";
import type { RunListeners } from "./run-listeners.js";

/** Writes the decisions of a host that no longer belongs to an engine, at once and separately. */
export async function writeLast(host: RunHost, store: Store, listeners: RunListeners): Promise<void> {
  const drained = host.drain();
  await store.commit([drained.append]);
  listeners.tell(host.run, drained.events);
}
