import { parseExit, parseNodeList, parseTime, parseTimeLimit } from "./parse-values.js";

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
