import { type Answers, keyOf, unknownStatus } from "../answers.js";
import type { AllocationStatus } from "../provider.js";
import type { AccountingRow } from "./accounting.js";
import type { QueueRow } from "./queue.js";
import { STATES, STUCK_REASONS } from "./states.js";

type SlurmAnswers = Answers<QueueRow, AccountingRow>;

/**
 * All incarnations of a job. The queue is right about the newest one as long as it remembers it. Accounting is late and
 * shows a job that has just started as PENDING, but only it knows the earlier incarnations.
 */
export function mergeStatus(id: string, answers: SlurmAnswers): AllocationStatus[] {
  const row = answers.queue.find((candidate) => candidate.id === id);
  const records = recordsOf(id, row?.name, answers.accounting);
  if (row === undefined) return withoutQueue(id, records, answers);
  const earlier = Array.from({ length: row.restarts }, (_, restart) =>
    earlierIncarnation(row, records[restart], restart),
  );
  return [...earlier, ofQueue(row, records[row.restarts])];
}

/**
 * The records of this job. Slurm may reuse a job's number after years or after a reset of the controller; its key is
 * unique.
 */
function recordsOf(
  id: string,
  nameInQueue: string | undefined,
  accounting: readonly AccountingRow[],
): readonly AccountingRow[] {
  const records = accounting.filter((candidate) => candidate.id === id);
  const name = nameInQueue ?? records.findLast((record) => record.name !== UNNAMED)?.name;
  return records.filter((record) => record.name === name || record.name === UNNAMED);
}

/** The name of a job in accounting before the rest of its record has arrived. */
const UNNAMED = "allocation";

function withoutQueue(
  id: string,
  records: readonly AccountingRow[],
  { whole }: SlurmAnswers,
): AllocationStatus[] {
  const source = whole ? "none" : "unreachable";
  if (records.length === 0) return [unknownStatus(id, 0, source)];
  const known = records.map((record, restart): AllocationStatus => {
    if (isOver(record.state)) return ofRecord(record, restart);
    // A later record proves that this incarnation is over, whatever its state says.
    if (restart < records.length - 1) return requeued(ofRecord(record, restart));
    return { ...ofRecord(record, restart), phase: "unknown", source };
  });
  // It went back into the queue, so another incarnation exists.
  return records.at(-1)?.state === "REQUEUED" ? [...known, unknownStatus(id, records.length, source)] : known;
}

/** An earlier incarnation. The counter in the queue proves that it existed, even if accounting is off or late. */
function earlierIncarnation(
  row: QueueRow,
  record: AccountingRow | undefined,
  restart: number,
): AllocationStatus {
  if (record !== undefined && isOver(record.state)) return ofRecord(record, restart);
  return requeued(
    record === undefined
      ? { ...unknownStatus(row.id, restart, "queue"), key: keyOf(row.name) }
      : ofRecord(record, restart),
  );
}

function requeued(status: AllocationStatus): AllocationStatus {
  return {
    ...status,
    phase: "ended",
    stuck: false,
    source: "queue",
    native: { state: "REQUEUED", reason: null, exitCode: null, signal: null },
  };
}

function ofQueue(row: QueueRow, record: AccountingRow | undefined): AllocationStatus {
  const { phase, stuck } = meaningOf(row.state, row.reason);
  return {
    id: row.id,
    key: keyOf(row.name),
    restart: row.restarts,
    phase,
    stuck,
    native: { state: row.state, reason: row.reason, exitCode: row.exitCode, signal: row.signal },
    nodes: row.nodes,
    startedAt: phase === "pending" ? null : row.startedAt,
    // For a running job, squeue prints the time at which it must end.
    endedAt: phase === "ended" ? row.endedAt : null,
    limit: { runtimeMs: row.runtimeLimitMs, memoryBytes: record?.memoryLimitBytes ?? null },
    peakMemoryBytes: record?.peakMemoryBytes ?? null,
    source: "queue",
  };
}

function ofRecord(record: AccountingRow, restart: number): AllocationStatus {
  const { phase, stuck } = meaningOf(record.state, null);
  return {
    id: record.id,
    key: keyOf(record.name),
    restart,
    phase,
    stuck,
    native: { state: record.state, reason: null, exitCode: record.exitCode, signal: record.signal },
    nodes: record.nodes,
    startedAt: record.startedAt,
    endedAt: record.endedAt,
    limit: { runtimeMs: record.runtimeLimitMs, memoryBytes: record.memoryLimitBytes },
    peakMemoryBytes: record.peakMemoryBytes,
    source: "accounting",
  };
}

function meaningOf(state: string, reason: string | null): Pick<AllocationStatus, "phase" | "stuck"> {
  // A state of a newer Slurm release is unknown here.
  const { phase = "unknown", stuck = false } = STATES[state] ?? {};
  return { phase, stuck: stuck || (phase === "pending" && STUCK_REASONS.has(reason ?? "")) };
}

function isOver(state: string): boolean {
  return STATES[state]?.phase === "ended";
}
