import { DarumaError } from "../../core/errors/errors.js";
import type { RunRow } from "../../core/model/rows.js";
import type { Store } from "../../store/store.js";

/** A run as people name it: its number, or the newest one. */
export type RunReference = number | "last";

/** One that was there a moment ago may have been pruned since. */
export async function requireRun(store: Pick<Store, "readRun">, runId: number): Promise<RunRow> {
  const run = await store.readRun(runId);
  if (run === null) throw new DarumaError("RUN_NOT_FOUND", `there is no run ${runId}`);
  return run;
}

export async function resolveRun(store: Store, reference: RunReference): Promise<number> {
  if (reference !== "last") return (await requireRun(store, reference)).id;
  // A child run is part of its parent's story.
  let newest = (await store.listRuns({ limit: 1 }))[0];
  for (let at = newest; at?.parent != null; at = newest)
    newest = (await store.readRun(at.parent.run_id)) ?? undefined;
  if (newest === undefined) throw new DarumaError("RUN_NOT_FOUND", "there are no runs yet");
  return newest.id;
}
