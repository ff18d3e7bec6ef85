import type { LoggedEvent } from "../../core/model/events.js";
import type { JobRow } from "../../core/model/rows.js";
import { ChangeListeners } from "../change-listeners.js";
import { createColdStore } from "../cold-store.js";
import type { JobFilter } from "../filters.js";
import type { StoreInspection } from "../inspect/store-inspection.js";
import { ownerText } from "../lease-rules.js";
import type { EventRange, JobName, LeaseOwner, Store } from "../store.js";
import { parseStoredJson } from "../stored-text.js";
import { TABLES } from "../tables.js";
import { type ColdVerbs, each, LISTS, PUTS, READS, WRITES } from "../verbs/verbs.js";
import { refuseMalformedAppend } from "../write-rules.js";
import {
  type Cells,
  LAST_LEASE_COLUMNS,
  packAppend,
  unpackCells,
  unpackLastLease,
  unpackLease,
  unpackRows,
  unpackTable,
} from "./packed-rows.js";
import type { Caller } from "./protocol.js";
import { createSlotVerbs } from "./slot-verbs.js";

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
    ...createSlotVerbs(thread),
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

type RowReader = "readEvents" | "readJobs" | "readJobNames" | "listJobs" | "readLease" | "readLastLeases";

/** The verbs whose answers are rows that arrive packed. */
function createRowReaders(thread: Caller): Pick<Store, RowReader> {
  return {
    readEvents: (runId, range) => readEvents(thread, runId, range),
    readJobs: (runId) => listJobs(thread, { runId }),
    async readJobNames(runId, range = {}) {
      const pieces = await thread.call("readJobNames", runId, range);
      return pieces.flatMap(({ json }) => JSON.parse(json) as JobName[]);
    },
    listJobs: (filter) => listJobs(thread, filter),
    async readLease(runId) {
      const row = await thread.call("readLease", runId);
      return row === null ? null : unpackLease(row);
    },
    async readLastLeases(runIds) {
      const cells = await thread.call("readLastLeases", runIds);
      return unpackRows(cells, LAST_LEASE_COLUMNS, unpackLastLease);
    },
  };
}

async function readEvents(thread: Caller, runId: number, range: EventRange = {}): Promise<LoggedEvent[]> {
  const pieces = await thread.call("readEvents", runId, range);
  const events: LoggedEvent[] = [];
  let afterSeq = range.afterSeq ?? 0;
  for (const { json, rows, last } of pieces) {
    const read = rows === 1 ? readOne(runId, json, last) : readTogether(json);
    for (const event of read ?? (await readOneByOne(thread, runId, { ...range, afterSeq })))
      events.push(event);
    afterSeq = last;
  }
  return events;
}

/** Parses events together; null if one of them is damaged. */
function readTogether(json: string): LoggedEvent[] | null {
  try {
    return JSON.parse(json) as LoggedEvent[];
  } catch {
    return null;
  }
}

/** Reads events one by one, to report which one is damaged. */
async function readOneByOne(thread: Caller, runId: number, range: EventRange): Promise<LoggedEvent[]> {
  const events: LoggedEvent[] = [];
  for (let afterSeq = range.afterSeq; ; ) {
    const [piece] = await thread.call("readEvents", runId, {
      ...range,
      ...{ afterSeq },
      limit: 1,
    } as EventRange);
    if (piece === undefined) return events;
    events.push(...readOne(runId, piece.json, piece.last));
    afterSeq = piece.last;
  }
}

function readOne(runId: number, json: string, seq: number): LoggedEvent[] {
  return parseStoredJson(json, () => `event ${seq} of run ${runId} in the table event`) as LoggedEvent[];
}

async function listJobs(thread: Caller, filter: JobFilter): Promise<JobRow[]> {
  const pieces = await thread.call("listJobs", filter);
  return pieces.flatMap(({ json }) =>
    (JSON.parse(json) as Cells[]).map((cells) => unpackCells(TABLES.job, cells, 0)),
  );
}
