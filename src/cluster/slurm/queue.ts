import { parseExit, parseNodeList, parseTime, parseTimeLimit } from "./parse-values.js";

/** A job as the queue sees it: running, waiting, or ended a few minutes ago. */
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
 * All jobs of this user, in one request that the controller answers from the user's own list. JSON is not asked for: it
 * ignores the filters in 22.05, and its types change from release to release.
 */
export const QUEUE_COMMAND: readonly string[] = [
  "squeue",
  "--me",
  "--states=all",
  "--noheader",
  `--Format=${FIELDS.map((field) => `${field}:|`).join(",")}`,
];

/** What a line that cannot be read is about is not known, so the answer is not whole. */
export function parseQueue(text: string): { readonly rows: QueueRow[]; readonly whole: boolean } {
  const lines = text.split("\n").filter((line) => line.trim() !== "");
  const rows = lines.flatMap(readRow);
  return { rows, whole: rows.length === lines.length };
}

function readRow(line: string): QueueRow[] {
  const cells = line.split("|").map((cell) => cell.trim());
  const cell = (field: (typeof FIELDS)[number]): string => cells[FIELDS.indexOf(field)] ?? "";
  // One that is cut short does not end with the separator. The names of other jobs may have it in them.
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
