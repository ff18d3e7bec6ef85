import { DarumaError } from "../../core/errors/errors.js";
import { refuseMalformedAppend, refuseStaleAppend } from "../append-rules.js";
import { ChangeListeners } from "../change-listeners.js";
import type { Append, Store } from "../store.js";
import { createBookVerbs } from "./memory-book.js";
import { createCampaignVerbs } from "./memory-campaigns.js";
import { createClusterVerbs } from "./memory-clusters.js";
import { createCountVerbs } from "./memory-counts.js";
import { createInboxVerbs } from "./memory-inbox.js";
import { createLeaseVerbs } from "./memory-leases.js";
import { createOutboxVerbs } from "./memory-outbox.js";
import { createPlaceVerbs, placesFor } from "./memory-places.js";
import { createRunVerbs } from "./memory-runs.js";
import { createSharedVerbs } from "./memory-shared.js";
import { MemoryTables } from "./memory-tables.js";
import { createTokenVerbs } from "./memory-tokens.js";
import { createWaitingVerbs } from "./memory-waiting.js";
import { createDraftVerbs, createWorkflowVerbs } from "./memory-workflows.js";

export interface MemoryStore extends Store {
  /** The next commit fails with `error`. `applied`: it was written all the same, only the answer is lost. */
  failNextCommit(error: Error, how: { readonly applied: boolean }): void;
  /** Another handle on the same data, as a process that opens the same file again. */
  reopen(): MemoryStore;
}

/** The reference store. It has no timers: every answer is a promise that is settled already, so simulations replay. */
export function createMemoryStore(): MemoryStore {
  return createHandle(new MemoryTables());
}

function createHandle(tables: MemoryTables): MemoryStore {
  const listeners = new ChangeListeners();
  let plannedFailure: { readonly error: Error; readonly applied: boolean } | null = null;
  let isClosed = false;
  const open = (): MemoryTables => {
    if (isClosed) throw new DarumaError("STORE_FAILED", "the store is closed");
    return tables;
  };
  return {
    failNextCommit: (error, { applied }) => {
      plannedFailure = { error, applied };
    },
    reopen: () => createHandle(tables),
    async commit(appends) {
      const current = open();
      const planned = plannedFailure;
      plannedFailure = null;
      if (planned !== null && !planned.applied) throw planned.error;
      applyAll(current, appends);
      if (planned !== null) throw planned.error;
      listeners.tellCommit(appends);
    },
    ...createWorkflowVerbs(open),
    ...createDraftVerbs(open),
    ...createRunVerbs(open),
    ...createLeaseVerbs(open, listeners),
    ...createWaitingVerbs(open),
    ...createPlaceVerbs(open),
    ...createInboxVerbs(open, listeners),
    ...createTokenVerbs(open, listeners),
    ...createClusterVerbs(open),
    ...createBookVerbs(open),
    ...createCountVerbs(open),
    ...createCampaignVerbs(open),
    ...createSharedVerbs(open, listeners),
    ...createOutboxVerbs(open),
    onChange: (listener) => listeners.add(listener),
    inspect: async () => ({
      ...{ kind: "memory", place: "memory", version: 0, newestVersion: 0, problems: [], checked: true },
      ...{ bytes: null, walBytes: null, server: null },
    }),
    async ping() {
      open();
    },
    async close() {
      isClosed = true;
    },
  };
}

function applyAll(tables: MemoryTables, appends: readonly Append[]): void {
  for (const append of appends) refuseMalformedAppend(append);
  const ends = new Map<number, number>();
  for (const append of appends) {
    const { fence, lastSeq } = tables.positionOf(append.runId);
    refuseStaleAppend(append, { fence, lastSeq: ends.get(append.runId) ?? lastSeq });
    ends.set(append.runId, append.firstSeq + append.events.length - 1);
    tables.refuseUnknownHandlers(append.jobs);
  }
  if (appends.some(({ run }) => run !== null && run.cause !== null)) tables.refuseTakenCauses(appends);
  const places = placesFor(tables, appends);
  for (const append of appends) tables.apply(append);
  for (const [runId, place] of places) tables.places.set(runId, place);
}
