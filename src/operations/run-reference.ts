import { DarumaError } from "../core/errors.js";
import type { Store } from "../store/store.js";

/** A run as people name it: its number, or the newest one. */
export type RunReference = number | "last";

export async function resolveRun(store: Store, reference: RunReference): Promise<number> {
  if (reference !== "last") {
    if ((await store.readRun(reference)) === null)
      throw new DarumaError("RUN_NOT_FOUND", `there is no run ${reference}`);
    return reference;
  }
  // A child run is part of its parent's story.
  let newest = (await store.listRuns({ limit: 1 }))[0];
  for (let at = newest; at?.parent != null; at = newest)
    newest = (await store.readRun(at.parent.run_id)) ?? undefined;
  if (newest === undefined) throw new DarumaError("RUN_NOT_FOUND", "there are no runs yet");
  return newest.id;
}
