import { type AllocationStatus, KEY_PREFIX } from "./provider.js";

/** The rows that were read from a command's output. */
export interface Read<Row> {
  readonly rows: readonly Row[];
  /** False if the command failed or its output was incomplete. Missing rows then mean nothing. */
  readonly whole: boolean;
}

export const NOTHING = { rows: [], whole: true } as const satisfies Read<never>;
export const SILENCE = { rows: [], whole: false } as const satisfies Read<never>;

/** The answers of queue and accounting. For a single id, only its rows. */
export interface Answers<QueueRow, AccountingRow> {
  readonly queue: readonly QueueRow[];
  readonly accounting: readonly AccountingRow[];
  /** Both answers are complete. */
  readonly whole: boolean;
}

/** The incarnations of each id. Every row is visited once, whatever the number of ids. */
export function mergeAll<Q extends { readonly id: string }, A extends { readonly id: string }>(
  ids: readonly string[],
  queue: Read<Q>,
  accounting: Read<A>,
  merge: (id: string, answers: Answers<Q, A>) => readonly AllocationStatus[],
): Map<string, readonly AllocationStatus[]> {
  const whole = queue.whole && accounting.whole;
  const rows = byId(queue.rows);
  const records = byId(accounting.rows);
  return new Map(
    ids.map((id) => [id, merge(id, { queue: rows.get(id) ?? [], accounting: records.get(id) ?? [], whole })]),
  );
}

function byId<Row extends { readonly id: string }>(rows: readonly Row[]): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(row.id);
    if (group === undefined) groups.set(row.id, [row]);
    else group.push(row);
  }
  return groups;
}

/** The ids of all jobs whose key begins with this prefix. */
export function idsWithKey(
  keyPrefix: string,
  ...rows: readonly (readonly { readonly id: string; readonly name: string }[])[]
): string[] {
  const ours = rows.flat().filter(({ name }) => name.startsWith(keyPrefix));
  return [...new Set(ours.map(({ id }) => id))];
}

export function unknownStatus(
  id: string,
  restart: number,
  source: AllocationStatus["source"],
): AllocationStatus {
  return {
    id,
    key: null,
    restart,
    phase: "unknown",
    stuck: false,
    native: { state: "", reason: null, exitCode: null, signal: null },
    nodes: [],
    startedAt: null,
    endedAt: null,
    limit: { runtimeMs: null, memoryBytes: null },
    peakMemoryBytes: null,
    source,
  };
}

/** The key of a job, which is its name. Null if it is not one of ours. */
export function keyOf(name: string): string | null {
  return name.startsWith(KEY_PREFIX) ? name : null;
}
