import type { LoggedEvent } from "../../core/model/events.js";
import type { JobRow } from "../../core/model/rows.js";
import type { JobFilter } from "../filters.js";
import type { EventRange, JobName, Store } from "../store.js";
import { parseStoredJson } from "../stored-json.js";
import { TABLES } from "../tables.js";
import type { Caller } from "./caller.js";
import {
  type Cells,
  LAST_LEASE_COLUMNS,
  unpackCells,
  unpackLastLease,
  unpackLease,
  unpackRows,
} from "./packed-rows.js";

type RowReader = "readEvents" | "readJobs" | "readJobNames" | "listJobs" | "readLease" | "readLastLeases";

/** The verbs whose answers are rows that arrive packed. */
export function createRowReaders(thread: Caller): Pick<Store, RowReader> {
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
