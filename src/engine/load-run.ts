import { replay } from "../core/decide/decision.js";
import { DarumaError } from "../core/errors/errors.js";
import type { LoggedEvent } from "../core/model/events.js";
import { newRun } from "../core/model/new-run.js";
import type { Run } from "../core/model/run.js";
import { parseStoredDefinition } from "../core/model/stored-definition.js";
import type { Store } from "../store/store.js";

export interface LoadedRun {
  readonly run: Run;
  readonly log: readonly LoggedEvent[];
  readonly nextSeq: number;
}

/** A run as its log tells it, or as it was before one of its events. */
export async function loadRun(
  store: Store,
  runId: number,
  { beforeSeq }: { readonly beforeSeq?: number } = {},
): Promise<LoadedRun> {
  const limit = beforeSeq === undefined ? {} : { limit: beforeSeq - 1 };
  const log = await store.readEvents(runId, limit);
  const first = log[0];
  if (first === undefined || first.event.type !== "run.created")
    throw new DarumaError("RUN_NOT_FOUND", `there is no run ${runId}`);
  const text = await store.readDefinition(first.event.definitionHash);
  if (text === null)
    throw new DarumaError("STORE_FAILED", `the definition of run ${runId} is missing from the store`);
  const run = newRun(runId, parseStoredDefinition(text, first.event.definitionHash), first.event, first.at);
  replay(run, log);
  run.dirty.clear();
  return { run, log, nextSeq: log.at(-1)!.seq + 1 };
}
