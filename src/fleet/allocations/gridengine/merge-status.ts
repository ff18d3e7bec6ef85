import { type Answers, keyOf, unknownStatus } from "../answers.js";
import type { AllocationStatus } from "../provider.js";
import type { AccountingRow } from "./accounting.js";
import type { QueueRow } from "./queue.js";
import { meaningOfFailed, meaningOfLetters, wasRestarted } from "./states.js";

/**
 * All incarnations of a job. Accounting has a record of each ended one; the queue has the current one. A job in error
 * is in both: it has a record, and stays in the queue until somebody deletes it.
 */
export function mergeStatus(
  id: string,
  { queue, accounting, whole }: Answers<QueueRow, AccountingRow>,
): AllocationStatus[] {
  const row = queue.find((candidate) => candidate.id === id);
  const records = recordsOf(id, row?.name, accounting);
  const ended = records.map(ofRecord);
  const last = records.at(-1);
  const isOver =
    last !== undefined &&
    meaningOfFailed(last.failed) !== "REQUEUED" &&
    !(row !== undefined && beganAfter(row, last));
  if (row === undefined)
    return isOver ? ended : [...ended, unknownStatus(id, ended.length, whole ? "none" : "unreachable")];
  if (isOver)
    return meaningOfLetters(row.letters).stuck ? [...ended.slice(0, -1), stuckAfter(ended.at(-1)!)] : ended;
  // The letter R proves that there was an earlier incarnation, even if accounting does not have it yet.
  const earlier = ended.length === 0 && wasRestarted(row.letters) ? [requeued(row)] : ended;
  return [...earlier, ofQueue(row, earlier.length)];
}

/**
 * Whether a job in the queue is newer than a record. The first incarnation of a rescheduled job may live on, and end
 * while the next one runs.
 */
function beganAfter(row: QueueRow, record: AccountingRow): boolean {
  return row.startedAt !== null && record.endedAt !== null && row.startedAt > record.endedAt;
}

/** The records of this job. Grid Engine reuses a job's number after a few million jobs; its key is unique. */
function recordsOf(
  id: string,
  nameInQueue: string | undefined,
  accounting: readonly AccountingRow[],
): readonly AccountingRow[] {
  const records = accounting.filter((record) => record.id === id);
  const name = nameInQueue ?? records.at(-1)?.name;
  return records.filter((record) => record.name === name);
}

function ofQueue(row: QueueRow, restart: number): AllocationStatus {
  const { phase, stuck } = meaningOfLetters(row.letters);
  return {
    ...unknownStatus(row.id, restart, "queue"),
    key: keyOf(row.name),
    phase,
    stuck,
    native: { state: row.letters, reason: null, exitCode: null, signal: null },
    nodes: row.node === null ? [] : [row.node],
    startedAt: phase === "pending" ? null : row.startedAt,
    limit: { runtimeMs: row.runtimeLimitMs, memoryBytes: row.memoryLimitBytes },
  };
}

function ofRecord(record: AccountingRow, restart: number): AllocationStatus {
  const { exitStatus } = record;
  return {
    ...unknownStatus(record.id, restart, "accounting"),
    key: keyOf(record.name),
    phase: "ended",
    native: {
      state: `failed ${record.failed}`,
      reason: record.failedWords === "" ? null : record.failedWords,
      exitCode: exitStatus > 128 ? null : exitStatus,
      signal: exitStatus > 128 ? exitStatus - 128 : null,
    },
    nodes: record.node === "" ? [] : [record.node],
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    limit: { runtimeMs: record.runtimeLimitMs, memoryBytes: record.memoryLimitBytes },
    peakMemoryBytes: record.peakMemoryBytes,
  };
}

function stuckAfter(status: AllocationStatus): AllocationStatus {
  return { ...status, phase: "pending", stuck: true, source: "queue" };
}

function requeued(row: QueueRow): AllocationStatus {
  return {
    ...unknownStatus(row.id, 0, "queue"),
    key: keyOf(row.name),
    phase: "ended",
    native: { state: "failed 25", reason: null, exitCode: null, signal: null },
  };
}
