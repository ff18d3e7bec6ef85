import { DarumaError } from "../core/errors.js";
import type { Store } from "../store/store.js";

/** A run on the command line: its number, or the newest one. */
export type RunReference = number | "last";

/** Null: the text is neither. */
export function parseRunReference(text: string): RunReference | null {
  if (text === "last") return "last";
  const id = Number(text);
  return /^\d+$/.test(text) && Number.isSafeInteger(id) && id > 0 ? id : null;
}

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
