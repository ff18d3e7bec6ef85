import { type Answers, keyOf, unknownStatus } from "../answers.js";
import type { AllocationStatus } from "../provider.js";
import { parseExit, parseMemory, parseNodeList, parseTime, parseTimeLimit } from "./parse-values.js";
import { STATES, STUCK_REASONS } from "./states.js";

/** One incarnation of a job in accounting. */
export interface AccountingRow {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly exitCode: number | null;
  readonly signal: number | null;
  readonly nodes: readonly string[];
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly runtimeLimitMs: number | null;
  readonly memoryLimitBytes: number | null;
  /** The highest memory use measured in any of its steps. */
  readonly peakMemoryBytes: number | null;
}

/** The job name comes last, because only it may contain the separator. */
const COLUMNS = "JobID,State,ExitCode,NodeList,Start,End,Timelimit,ReqMem,MaxRSS,JobName";

/**
 * `--duplicates` gives a row for each incarnation of a requeued job. Text output, because the JSON of 22.05 says
 * SUCCESS for all.
 */
export function accountingCommand(ids: readonly string[]): readonly string[] {
  return ["sacct", "--duplicates", "--parsable2", `--format=${COLUMNS}`, `--jobs=${ids.join(",")}`];
}

/** Lists this user's jobs of the last days. The user is named because root would see everybody's. */
export function recentAccountingCommand(
  days: number,
  userId: number | undefined = process.getuid?.(),
): readonly string[] {
  return [
    "sacct",
    "--duplicates",
    "--allocations",
    "--parsable2",
    `--format=${COLUMNS}`,
    `--starttime=now-${days}days`,
    ...(userId === undefined ? [] : [`--user=${userId}`]),
  ];
}

/** Reads rows in the order of the incarnations. Steps add their memory use to the row above. */
export function parseAccounting(text: string): { readonly rows: AccountingRow[]; readonly whole: boolean } {
  const [header = "", ...lines] = text.split("\n");
  const columns = header.split("|");
  const rows: AccountingRow[] = [];
  let whole = columns.includes("JobID") && columns.includes("State");
  for (const line of whole ? lines : []) {
    if (line === "") continue;
    const cells = line.split("|");
    const cell = (name: string): string => cells[columns.indexOf(name)] ?? "";
    const [id = "", step] = cell("JobID").split(".");
    if (cells.length < columns.length) whole = false;
    else if (step === undefined && /^\d+$/.test(id)) rows.push(rowOf(id, cell));
    else if (rows.at(-1)?.id === id) rows.push(withStep(rows.pop()!, parseMemory(cell("MaxRSS"))));
  }
  return { rows, whole };
}

function rowOf(id: string, cell: (name: string) => string): AccountingRow {
  return {
    id,
    name: cell("JobName"),
    // `CANCELLED by 0`
    state: cell("State").split(" ")[0] ?? "",
    ...parseExit(cell("ExitCode")),
    nodes: parseNodeList(cell("NodeList")),
    startedAt: parseTime(cell("Start")),
    endedAt: parseTime(cell("End")),
    runtimeLimitMs: parseTimeLimit(cell("Timelimit")),
    memoryLimitBytes: parseMemory(cell("ReqMem")),
    peakMemoryBytes: parseMemory(cell("MaxRSS")),
  };
}

function withStep(row: AccountingRow, used: number | null): AccountingRow {
  return used === null ? row : { ...row, peakMemoryBytes: Math.max(row.peakMemoryBytes ?? 0, used) };
}

/** A job in the queue: waiting, running, or ended a few minutes ago. */
export interface QueueRow {
  readonly id: string;
  readonly name: string;
  readonly state: string;
  readonly reason: string | null;
  readonly restarts: number;
  readonly exitCode: number | null;
  readonly signal: number | null;
  readonly nodes: readonly string[];
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly runtimeLimitMs: number | null;
}

const FIELDS = [
  "JobID",
  "State",
  "Reason",
  "RestartCnt",
  "exit_code",
  "NodeList",
  "StartTime",
  "EndTime",
  "TimeLimit",
  "Name",
] as const;

/**
 * Lists all jobs of this user in one request. JSON is not used: in 22.05 it ignores the filters, and its types change
 * from release to release.
 */
export const QUEUE_COMMAND: readonly string[] = [
  "squeue",
  "--me",
  "--states=all",
  "--noheader",
  `--Format=${FIELDS.map((field) => `${field}:|`).join(",")}`,
];

/** Reads the queue. If a line cannot be read, its job is unknown, so the answer is incomplete. */
export function parseQueue(text: string): { readonly rows: QueueRow[]; readonly whole: boolean } {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const rows = lines.flatMap(readRow);
  return { rows, whole: rows.length === lines.length };
}

function readRow(line: string): QueueRow[] {
  const cells = line.split("|").map((cell) => cell.trim());
  const cell = (field: (typeof FIELDS)[number]): string => cells[FIELDS.indexOf(field)] ?? "";
  // A truncated line does not end with the separator. Names of other jobs may contain separators.
  if (cells.length <= FIELDS.length || cells.at(-1) !== "" || !/^\d+$/.test(cell("JobID"))) return [];
  const reason = cell("Reason");
  return [
    {
      id: cell("JobID"),
      name: cell("Name"),
      state: cell("State"),
      reason: reason === "None" || reason === "" ? null : reason,
      restarts: Number.parseInt(cell("RestartCnt"), 10) || 0,
      ...parseExit(cell("exit_code")),
      nodes: parseNodeList(cell("NodeList")),
      startedAt: parseTime(cell("StartTime")),
      endedAt: parseTime(cell("EndTime")),
      runtimeLimitMs: parseTimeLimit(cell("TimeLimit")),
    },
  ];
}

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
