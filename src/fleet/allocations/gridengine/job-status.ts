import { type Answers, keyOf, unknownStatus } from "../answers.js";
import type { AllocationStatus } from "../provider.js";
import { parseDuration, parseMemory, parseRequests, parseTime } from "./parse-values.js";
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

/** A job that waits or runs. Ended jobs are not in the queue. */
export interface QueueRow {
  readonly id: string;
  readonly name: string;
  readonly letters: string;
  readonly node: string | null;
  readonly startedAt: number | null;
  readonly runtimeLimitMs: number | null;
  readonly memoryLimitBytes: number | null;
}

/**
 * Lists all jobs of this user with their requested resources. The user is named because a site may have configured
 * qstat to list everybody's jobs.
 */
export function queueCommand(user: string): readonly string[] {
  return ["qstat", "-u", user, "-r", "-xml"];
}

/** Reads the queue. Jobs missing from a truncated answer may exist all the same. */
export function parseQueue(text: string): { readonly rows: QueueRow[]; readonly whole: boolean } {
  const rows = Array.from(text.matchAll(/<job_list[^>]*>([\s\S]*?)<\/job_list>/g), ([, job = ""]) =>
    readJob(job),
  );
  const whole = /^\s*<\?xml/.test(text) && /<\/job_info>\s*$/.test(text);
  return { rows: rows.filter(({ id }) => /^\d+$/.test(id)), whole };
}

function readJob(xml: string): QueueRow {
  const slots = Number(element(xml, "slots") ?? 1);
  const memory = parseMemory(hardRequest(xml, "h_vmem") ?? "");
  const queueInstance = element(xml, "queue_name") ?? "";
  return {
    id: element(xml, "JB_job_number") ?? "",
    name: element(xml, "full_job_name") ?? element(xml, "JB_name") ?? "",
    letters: element(xml, "state") ?? "",
    node: queueInstance.includes("@") ? queueInstance.slice(queueInstance.indexOf("@") + 1) : null,
    startedAt: parseTime(element(xml, "JAT_start_time") ?? ""),
    runtimeLimitMs: parseDuration(hardRequest(xml, "h_rt") ?? ""),
    // The limit is per slot.
    memoryLimitBytes: memory === null ? null : memory * slots,
  };
}

/** The path of a job's output. */
export function parseOutputPath(detailedXml: string): string | null {
  const list = element(detailedXml, "JB_stdout_path_list");
  return list === null ? null : element(list, "PN_path");
}

function element(xml: string, name: string): string | null {
  const match = new RegExp(`<${name}>([\\s\\S]*?)</${name}>`).exec(xml);
  return match === null ? null : decode(match[1] ?? "").trim();
}

function hardRequest(xml: string, name: string): string | null {
  return new RegExp(`<hard_request name="${name}"[^>]*>([^<]*)<`).exec(xml)?.[1] ?? null;
}

function decode(text: string): string {
  return text
    .replaceAll("&lt;", "<")
    .replaceAll("&gt;", ">")
    .replaceAll("&quot;", '"')
    .replaceAll("&apos;", "'")
    .replaceAll("&amp;", "&");
}
