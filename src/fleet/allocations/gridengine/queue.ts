import { parseDuration, parseMemory, parseTime } from "./parse-values.js";

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
