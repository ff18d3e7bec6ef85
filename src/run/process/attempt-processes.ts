import { execFile } from "node:child_process";
import { readdir, readFile } from "node:fs/promises";
import { promisify } from "node:util";
import { shortageBehind } from "./machine-shortage.js";

const TOKEN_VARIABLE = "DARUMA_ATTEMPT_TOKEN";
/** Between two looks for processes that should have gone. */
const POLL_MS = 10;
/** A process that hangs in the kernel does not die of SIGKILL: the search is given up then. */
const GIVE_UP_MS = 5_000;
/** Linux counts memory in pages; 4 KB on all machines that matter here. */
const PAGE_BYTES = 4_096;
const MAX_PS_BYTES = 64 * 1024 * 1024;

/** What the environment of a process must hold, and what else must be true of it. */
interface MarkedProcess {
  readonly variable: string;
  readonly where?: (environment: readonly string[]) => boolean;
}

/** Ends every process whose environment carries the attempt's token, and its group with it. */
export function endProcessesWithToken(token: string, graceMs = 0): Promise<number> {
  return endProcesses(withToken(token), graceMs, signalWithGroups);
}

function withToken(token: string): MarkedProcess {
  return { variable: `${TOKEN_VARIABLE}=${token}` };
}

/**
 * Ends processes: with SIGTERM first if there is a grace period, then with SIGKILL until none is left. Returns how many
 * were found. Throws if it cannot be determined whether any is left.
 */
export async function endProcesses(
  wanted: MarkedProcess,
  graceMs: number,
  signalAll: (found: Found, signal: NodeJS.Signals) => void = signalEach,
): Promise<number> {
  const ended = new Set<number>();
  const killAt = performance.now() + graceMs;
  let hasAsked = graceMs <= 0;
  for (;;) {
    const found = await findProcesses(wanted).catch((error: unknown) => ({ error }));
    const now = performance.now();
    if ("error" in found) {
      if (now > killAt + GIVE_UP_MS) throw found.error;
      await pollPause();
      continue;
    }
    for (const pid of found.keys()) ended.add(pid);
    if (found.size === 0 || now > killAt + GIVE_UP_MS) return ended.size;
    if (now >= killAt) signalAll(found, "SIGKILL");
    else if (!hasAsked) signalAll(found, "SIGTERM");
    hasAsked = true;
    await pollPause();
  }
}

function pollPause(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, POLL_MS));
}

/** Resident memory of every process that carries the token, in bytes; 0 where the system does not tell. */
export async function memoryOfToken(token: string): Promise<number> {
  if (process.platform !== "linux") return 0;
  let pages = 0;
  for (const pid of (await findWithToken(token)).keys()) {
    const statm = await readFile(`/proc/${pid}/statm`, "latin1").catch(() => "0 0");
    pages += Number(statm.split(" ")[1] ?? 0);
  }
  return pages * PAGE_BYTES;
}

/** Process id to process group. */
type Found = ReadonlyMap<number, number>;

function signalEach(found: Found, signal: NodeJS.Signals): void {
  for (const pid of found.keys()) signalOne(pid, signal);
}

function signalWithGroups(found: Found, signal: NodeJS.Signals): void {
  for (const [pid, group] of found) {
    // Only a group that the attempt leads: another may hold processes that are not the attempt's.
    if (found.has(group)) signalOne(-group, signal);
    else signalOne(pid, signal);
  }
}

function signalOne(target: number, signal: NodeJS.Signals): void {
  try {
    process.kill(target, signal);
  } catch {
    // It has gone in the meantime, or belongs to somebody else.
  }
}

function findProcesses(wanted: MarkedProcess): Promise<Found> {
  return process.platform === "linux" ? findInProc(wanted) : findInPs(wanted);
}

/** Only where there is /proc. */
function findWithToken(token: string): Promise<Found> {
  return findInProc(withToken(token));
}

async function findInProc({ variable, where }: MarkedProcess): Promise<Found> {
  const found = new Map<number, number>();
  const wanted = Buffer.from(`\0${variable}\0`);
  const inspect = async (pid: string): Promise<void> => {
    try {
      const environ = await readFile(`/proc/${pid}/environ`);
      if (!Buffer.concat([Buffer.from("\0"), environ]).includes(wanted)) return;
      if (where?.(environ.toString().split("\0")) === false) return;
      const stat = await readFile(`/proc/${pid}/stat`, "latin1");
      // The name, in brackets, may itself hold blanks and brackets; state, parent and group follow it.
      const group = stat.slice(stat.lastIndexOf(")") + 2).split(" ")[2];
      found.set(Number(pid), Number(group));
    } catch (error) {
      // There was no room to look: that says nothing about what is there.
      if (shortageBehind(error) !== null) throw error;
      // It has gone in the meantime, or belongs to somebody else.
    }
  };
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name) && Number(name) !== process.pid);
  await Promise.all(pids.map(inspect));
  return found;
}

/** Best effort: `ps` shows the environment after the command, with blanks between. */
async function findInPs({ variable, where = () => true }: MarkedProcess): Promise<Found> {
  const found = new Map<number, number>();
  const listing = await promisify(execFile)("ps", ["axeww", "-o", "pid=,pgid=,command="], {
    maxBuffer: MAX_PS_BYTES,
  }).catch(() => ({ stdout: "" }));
  for (const line of listing.stdout.split("\n")) {
    const parts = /^\s*(\d+)\s+(\d+)\s(.*)$/.exec(line);
    if (parts === null || Number(parts[1]) === process.pid) continue;
    if (` ${parts[3]} `.includes(` ${variable} `) && where(parts[3]!.split(" ")))
      found.set(Number(parts[1]), Number(parts[2]));
  }
  return found;
}

/** What the processes of an attempt use now, and have used so far with those of their children that have ended. */
interface TokenUsage {
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
