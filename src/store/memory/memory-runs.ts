import type { BookRow } from "../../core/book/book-row.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { Event, LoggedEvent } from "../../core/model/events.js";
import type { AttemptRow, CheckpointRow, JobRow, RouteRow, RunRow } from "../../core/model/rows.js";
import { mayDeleteRun } from "../run-rules.js";
import type { EventRange, Store } from "../store.js";
import { listJobs, listRuns, listUnanswered } from "./memory-search.js";
import { type MemoryTables, type OpenTables, parseRow } from "./memory-tables.js";

type RunVerb =
  | "reserveRunId"
  | "readRun"
  | "listRuns"
  | "readEvents"
  | "readJobs"
  | "readJob"
  | "readJobNames"
  | "listJobs"
  | "listUnanswered"
  | "readAttempts"
  | "readRoutes"
  | "readCheckpoints"
  | "putPatch"
  | "readPatch"
  | "putSnapshot"
  | "readSnapshot"
  | "deleteRun";

export function createRunVerbs(open: OpenTables): Pick<Store, RunVerb> {
  return {
    async reserveRunId() {
      const tables = open();
      tables.lastRunId += 1;
      return tables.lastRunId;
    },
    async readRun(runId) {
      const run = open().runs.get(runId)?.run;
      return run === undefined ? null : parseRow<RunRow>(run);
    },
    listRuns: async (filter) => listRuns(open(), filter),
    readEvents: async (runId, range) => readEvents(open(), runId, range),
    readJobs: async (runId) => listJobs(open(), { runId }),
    async readJob(id) {
      for (const { jobs } of open().runs.values()) {
        const job = jobs.get(id);
        if (job !== undefined) return parseRow<JobRow>(job);
      }
      return null;
    },
    async readJobNames(runId, range = {}) {
      return listJobs(open(), { runId, ...range }).map(({ id, step, scope }) => ({ id, step, scope }));
    },
    listJobs: async (filter) => listJobs(open(), filter),
    listUnanswered: async (limit) => listUnanswered(open(), limit),
    async readAttempts(runId, jobId) {
      const attempts = open().runs.get(runId)?.attempts.values() ?? [];
      return Array.from(attempts, (attempt) => parseRow<AttemptRow>(attempt))
        .filter(({ job_id }) => jobId === undefined || job_id === jobId)
        .sort((a, b) => a.job_id - b.job_id || a.attempt - b.attempt);
    },
    async readRoutes(runId) {
      const routes = open().runs.get(runId)?.routes ?? [];
      return routes.map((route) => parseRow<RouteRow>(route)).sort((a, b) => a.seq - b.seq);
    },
    async readCheckpoints(runId) {
      const checkpoints = open().runs.get(runId)?.checkpoints.values() ?? [];
      return Array.from(checkpoints, (each) => parseRow<CheckpointRow>(each)).sort(
        (a, b) => a.ordinal - b.ordinal,
      );
    },
    async putPatch({ runId, diffHash, bytes }) {
      const run = open().runs.get(runId);
      if (run === undefined) throw new DarumaError("STORE_FAILED", `there is no run ${runId}`);
      if (!run.patches.has(diffHash)) run.patches.set(diffHash, Uint8Array.from(bytes));
    },
    async readPatch(runId, diffHash) {
      const bytes = open().runs.get(runId)?.patches.get(diffHash);
      return bytes === undefined ? null : Uint8Array.from(bytes);
    },
    async putSnapshot({ bytes, ...snapshot }) {
      const run = open().runs.get(snapshot.runId);
      if (run === undefined) throw new DarumaError("STORE_FAILED", `there is no run ${snapshot.runId}`);
      run.snapshot = { ...snapshot, bytes: Uint8Array.from(bytes) };
    },
    async readSnapshot(runId) {
      const snapshot = open().runs.get(runId)?.snapshot ?? null;
      return snapshot === null ? null : { ...snapshot, bytes: Uint8Array.from(snapshot.bytes) };
    },
    deleteRun: async (runId) => deleteRun(open(), runId),
  };
}

function readEvents(
  tables: MemoryTables,
  runId: number,
  { afterSeq = 0, limit, job, types }: EventRange = {},
): LoggedEvent[] {
  const run = tables.runs.get(runId);
  if (run === undefined) return [];
  const seqs = job === undefined ? run.seqsAfter(afterSeq) : run.seqsOf(job).filter((seq) => seq > afterSeq);
  const isAsked = (seq: number): boolean =>
    types === undefined || (types as readonly string[]).includes(run.events[seq - 1]!.type);
  const read = (seq: number): LoggedEvent => {
    const { at, data } = run.events[seq - 1]!;
    return { seq, at, event: parseRow<Event>(data) };
  };
  return seqs.filter(isAsked).slice(0, limit).map(read);
}

function deleteRun(tables: MemoryTables, runId: number): boolean {
  const row = tables.runs.get(runId)?.run;
  if (row === undefined) return false;
  const isLeaseHeld = tables.leaseOf(runId) !== null;
  if (!mayDeleteRun({ status: parseRow<RunRow>(row).status, isLeaseHeld })) return false;
  tables.runs.delete(runId);
  tables.leases.delete(runId);
  tables.waiting.delete(runId);
  tables.places.delete(runId);
  tables.bookBacklog.delete(runId);
  for (const [place, { text, rolled }] of tables.bookRows)
    if (rolled && parseRow<BookRow>(text).run_id === runId) tables.bookRows.delete(place);
  for (const entry of tables.inbox.values()) if (entry.runId === runId) tables.inbox.delete(entry.id);
  return true;
}
