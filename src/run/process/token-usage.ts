import { readFile } from "node:fs/promises";
import { findWithToken, PAGE_BYTES } from "./attempt-processes.js";

/** What the processes of an attempt use now, and have used so far with those of their children that have ended. */
export interface TokenUsage {
  readonly processes: number;
  readonly memoryBytes: number;
  readonly cpuMs: number;
  readonly readBytes: number;
  readonly writtenBytes: number;
}

/** Linux tells times in hundredths of a second, whatever the machine. */
const MS_PER_TICK = 10;
/** Places in /proc/PID/stat after the name: user and system time, then those of children that were waited for. */
const TIMES_AT = 11;
const TIMES = 4;
const RESIDENT_AT = 21;

/** Null where the system does not tell. */
export async function usageOfToken(token: string): Promise<TokenUsage | null> {
  if (process.platform !== "linux") return null;
  const pids = [...(await findWithToken(token)).keys()];
  const used = (await Promise.all(pids.map(usageOf))).filter((each) => each !== null);
  const sum = (value: (one: TokenUsage) => number): number => used.reduce((all, one) => all + value(one), 0);
  return {
    processes: used.length,
    memoryBytes: sum(({ memoryBytes }) => memoryBytes),
    cpuMs: sum(({ cpuMs }) => cpuMs),
    readBytes: sum(({ readBytes }) => readBytes),
    writtenBytes: sum(({ writtenBytes }) => writtenBytes),
  };
}

/** Null if the process has ended meanwhile. */
async function usageOf(pid: number): Promise<TokenUsage | null> {
  const stat = await readFile(`/proc/${pid}/stat`, "latin1").catch(() => null);
  if (stat === null) return null;
  // The name, in brackets, may itself hold blanks and brackets.
  const fields = stat
    .slice(stat.lastIndexOf(")") + 2)
    .split(" ")
    .map(Number);
  const ticks = fields.slice(TIMES_AT, TIMES_AT + TIMES).reduce((all, each) => all + each, 0);
  const io = await readFile(`/proc/${pid}/io`, "latin1").catch(() => "");
  return {
    processes: 1,
    memoryBytes: (fields[RESIDENT_AT] ?? 0) * PAGE_BYTES,
    cpuMs: ticks * MS_PER_TICK,
    readBytes: numberIn(io, "read_bytes"),
    writtenBytes: numberIn(io, "write_bytes"),
  };
}

function numberIn(io: string, key: string): number {
  return Number(new RegExp(`^${key}: (\\d+)$`, "m").exec(io)?.[1] ?? 0);
}
