import { parseDuration, parseMemory, parseRequests, parseTime } from "./parse-values.js";

/** An incarnation of a job that has ended. */
export interface AccountingRow {
  readonly id: string;
  readonly name: string;
  readonly failed: number;
  /** `qmaster enforced h_rt, h_cpu, or h_vmem limit` */
  readonly failedWords: string;
  readonly exitStatus: number;
  readonly node: string;
  readonly startedAt: number | null;
  readonly endedAt: number | null;
  readonly runtimeLimitMs: number | null;
  readonly memoryLimitBytes: number | null;
  readonly peakMemoryBytes: number | null;
}

/** One request for all keys of this user with a prefix, because `qacct` takes a pattern but no list of ids. */
export function accountingCommand(user: string, keyPrefix: string): readonly string[] {
  return ["qacct", "-o", user, "-j", `${keyPrefix}*`];
}

/** Whether an error of `qacct` only means that no job matches, or that none has ended yet. */
export function saysNothingIsThere(stderr: string): boolean {
  return /^error: job (name|id) .* not found|accounting: No such file/m.test(stderr);
}

/** Reads records in the order in which they ended. Each follows a line of equals signs. */
export function parseAccounting(text: string): { readonly rows: AccountingRow[]; readonly whole: boolean } {
  const [before = "", ...blocks] = text.split(/^={10,}\s*$/m);
  const rows = blocks.map(readRecord);
  // A truncated record lacks its last line.
  const whole = before.trim() === "" && blocks.length > 0 && rows.every((row) => row !== null);
  return { rows: rows.filter((row) => row !== null), whole };
}

function readRecord(block: string): AccountingRow | null {
  const fields = new Map(
    Array.from(
      block.matchAll(/^(\S+)[ \t]+(.*?)[ \t]*$/gm),
      ([, key = "", value = ""]) => [key, value] as const,
    ),
  );
  const field = (name: string): string => fields.get(name) ?? "";
  const failed = /^(\d+)\s*:?\s*(.*)$/.exec(field("failed"));
  if (failed === null || !/^\d+$/.test(field("jobnumber")) || !fields.has("category")) return null;
  const requests = parseRequests(field("category"));
  const memory = parseMemory(requests.get("h_vmem") ?? "");
  return {
    id: field("jobnumber"),
    name: field("jobname"),
    failed: Number(failed[1]),
    failedWords: failed[2] ?? "",
    // `137  (Killed)`
    exitStatus: Number.parseInt(field("exit_status"), 10) || 0,
    node: field("hostname"),
    startedAt: parseTime(field("start_time")),
    endedAt: parseTime(field("end_time")),
    runtimeLimitMs: parseDuration(requests.get("h_rt") ?? ""),
    memoryLimitBytes: memory === null ? null : memory * (Number(field("slots")) || 1),
    peakMemoryBytes: parseMemory(field("maxvmem")),
  };
}
