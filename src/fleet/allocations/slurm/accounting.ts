import { parseExit, parseMemory, parseNodeList, parseTime, parseTimeLimit } from "./parse-values.js";

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
