import { parseExit, parseMemory, parseNodeList, parseTime, parseTimeLimit } from "./parse-values.js";

/** One incarnation of a job in the accounting. */
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
  /** The most that any of its steps was seen to use. */
  readonly peakMemoryBytes: number | null;
}

/** The name comes last: it is the only one that may have the separator in it. */
const COLUMNS = "JobID,State,ExitCode,NodeList,Start,End,Timelimit,ReqMem,MaxRSS,JobName";

/** `--duplicates`: a job that was requeued has a row for each incarnation. Text: the JSON of 22.05 says SUCCESS for all. */
export function accountingCommand(ids: readonly string[]): readonly string[] {
  return ["sacct", "--duplicates", "--parsable2", `--format=${COLUMNS}`, `--jobs=${ids.join(",")}`];
}

/** Of this user, whatever was there in the last days. Root would be told of everybody's. */
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

/** Rows in the order in which the incarnations ran; steps add what they used to the row above. */
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
