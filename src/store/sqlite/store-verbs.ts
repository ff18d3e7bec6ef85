import { refuseMalformedAppend } from "../append-rules.js";
import { ChangeListeners } from "../change-listeners.js";
import { createColdStore } from "../cold-store.js";
import type { StoreInspection } from "../inspect/store-inspection.js";
import { ownerText } from "../lease-rules.js";
import type { LeaseOwner, Store } from "../store.js";
import { parseStoredJson } from "../stored-json.js";
import { TABLES } from "../tables.js";
import { type ColdVerbs, each, LISTS, PUTS, READS, WRITES } from "../verbs/verbs.js";
import type { Caller } from "./caller.js";
import { packAppend, unpackLease, unpackTable } from "./packed-rows.js";
import { createPlaceVerbs } from "./place-verbs.js";
import { createRowReaders } from "./row-readers.js";

/** The storage port over a database, on whichever thread it is. */
export function createStore(
  thread: Caller,
  inspectFile: (file: string, full: boolean) => Promise<StoreInspection>,
): Store {
  const listeners = new ChangeListeners();
  return {
    reserveRunId: () => thread.call("reserveRunId"),
    async commit(appends) {
      for (const append of appends) refuseMalformedAppend(append);
      const packed = appends.map(packAppend);
      const queues = packed.flatMap(({ moreJobs }) => moreJobs ?? []);
      await thread.callWith(queues, "commit", packed);
      listeners.tellCommit(appends);
    },
    deleteRun: (runId) => thread.call("deleteRun", runId),
    ...createRowReaders(thread),
    ...createColdStore(createColdVerbs(thread), listeners),
    ...createLeaseVerbs(thread, listeners),
    ...createWaitingVerbs(thread),
    ...createPlaceVerbs(thread),
    claimNotices: async (claim) => unpackTable(TABLES.outbox, await thread.call("claimNotices", claim)),
    onChange: (listener) => listeners.add(listener),
    inspect: (full) => inspectFile(thread.file, full),
    async ping() {
      await thread.call("ping");
    },
    close: () => thread.close(),
  };
}

function createColdVerbs(thread: Caller): ColdVerbs {
  const call =
    (_: unknown, name: string) =>
    (...args: never[]) =>
      thread.call(name as "readDraft", ...(args as [never]));
  return each({ ...READS, ...LISTS, ...PUTS, ...WRITES }, call) as unknown as ColdVerbs;
}

type WaitingVerb = "putWaiting" | "listWaiting" | "takeWaiting";

function createWaitingVerbs(thread: Caller): Pick<Store, WaitingVerb> {
  return {
    async putWaiting(owner, runs) {
      await thread.call("putWaiting", ownerText(owner), runs);
    },
    listWaiting: (owner) => thread.call("listWaiting", ownerText(owner)),
    async takeWaiting(run, { owner, expiresAt }) {
      const fence = await thread.call("takeWaiting", run, ownerText(owner), expiresAt);
      return fence === null ? null : { runId: run.runId, fence };
    },
  };
}

type LeaseVerb = "acquireLease" | "renewLeases" | "releaseLease" | "claimRuns" | "listOwners";

function createLeaseVerbs(thread: Caller, listeners: ChangeListeners): Pick<Store, LeaseVerb> {
  return {
    async acquireLease(request) {
      const answer = await thread.call("acquireLease", request);
      if (typeof answer === "number") return { granted: true, fence: answer };
      const lease = unpackLease(answer);
      if (lease === null) throw new TypeError("a free lease was refused");
      return { granted: false, lease };
    },
    renewLeases: (leases, _now, expiresAt) => thread.call("renewLeases", leases, expiresAt),
    async releaseLease(runId, fence) {
      const isWanted = await thread.call("releaseLease", runId, fence);
      if (isWanted) listeners.tell("wanted", runId);
    },
    claimRuns: (request) => thread.call("claimRuns", request),
    async listOwners() {
      const owners = await thread.call("listOwners");
      return owners.map(({ owner, mark }) => ({
        owner: parseStoredJson(owner, () => "an owner in the table lease") as LeaseOwner,
        mark,
      }));
    },
  };
}
