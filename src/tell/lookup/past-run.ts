import { randomUUID } from "node:crypto";
import { DarumaError } from "../../core/errors/errors.js";
import { evolve } from "../../core/evolve/evolve.js";
import type { Event, LoggedEvent } from "../../core/model/events.js";
import { newRun } from "../../core/model/make-run.js";
import { iso } from "../../core/text/iso-time.js";
import { readDefinition, readPages } from "../../run/engine/load-run.js";
import { RunHost } from "../../run/engine/run-host.js";
import { currentOwner } from "../../store/lease-owner.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import type { Append, Store } from "../../store/store.js";

/** A store in which a run is as it was after one of its events, so that whatever reads a run can read its past. */
export interface PastRun {
  readonly store: Store;
  readonly at: { readonly seq: number; readonly time: string; readonly type: string };
}

export async function pastRun(store: Store, runId: number, seq: number): Promise<PastRun> {
  const events = await firstEvents(store, runId, seq);
  // The owner at that time is unknown, so the past run gets a new one.
  const owner = currentOwner(randomUUID());
  // What its rows name, such as failure handlers, stays in the other store.
  const then = createMemoryStore({ hasKeys: false });
  const taken = await then.acquireLease({ runId, owner, now: 0, expiresAt: 0 });
  const fence = taken.granted ? taken.fence : 0;
  await then.commit([{ ...(await rowsOf(store, runId, events)), fence }]);
  const { readRun, readEvents, readJobs, readJob, readJobNames, listJobs } = then;
  const { readAttempts, readRoutes, readCheckpoints } = then;
  const past: Store = {
    ...store,
    ...{ readRun: async (id) => (id === runId ? readRun(id) : store.readRun(id)) },
    ...{ readEvents, readJobs, readJob, readJobNames, listJobs, readAttempts, readRoutes, readCheckpoints },
    readSnapshot: async () => null,
    readLease: async () => null,
    readLastLeases: async (ids) =>
      ids.map((id) => ({ runId: id, owner, expiresAt: Number.MAX_SAFE_INTEGER })),
  };
  const { at, event } = events.at(-1)!;
  return { store: past, at: { seq, time: iso(at), type: event.type } };
}

async function firstEvents(store: Store, runId: number, seq: number): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  let last = 0;
  for await (const page of readPages(store, runId, { afterSeq: 0 })) {
    for (const logged of page) if (logged.seq <= seq) events.push(logged);
    last = page.at(-1)?.seq ?? last;
    if (last >= seq) return events;
  }
  throw new DarumaError("INVALID_INPUT", `run ${runId} has no event ${seq}: its last one is ${last}`, {
    hint: { typed: `See \`daruma events ${runId}\`.`, asked: "See list_run_events." },
  });
}

/** What a store would have had of it then. */
async function rowsOf(
  store: Store,
  runId: number,
  [first, ...others]: readonly LoggedEvent[],
): Promise<Append> {
  const created = first!.event as Extract<Event, { type: "run.created" }>;
  const run = newRun(runId, await readDefinition(store, runId, created.definition_hash), created, first!.at);
  const host = new RunHost(run, 0, 1);
  evolve(run, created, first!.at);
  host.keep([created], first!.at);
  for (const { event, at } of others) {
    evolve(run, event, at);
    host.keep([event], at);
  }
  return host.drain().append;
}
