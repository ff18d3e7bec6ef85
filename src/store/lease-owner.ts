import { execFileSync } from "node:child_process";
import { readFileSync, readlinkSync } from "node:fs";
import { hostname } from "node:os";
import type { LeaseOwner } from "./store.js";

const UNKNOWN = "unknown";
/** The kernel's fixed name for a machine's first process namespace. */
const FIRST_PID_NAMESPACE = "pid:[4026531836]";
const STAT_STATE = 3;
const STAT_START_TIME = 22;
const COMMAND_TIMEOUT_MS = 5_000;
const START_IS_TRUSTED_MS = 10_000;
const STARTS = new Map<number, { readonly start: string; readonly readAt: number }>();

/** This process as the owner of leases. `engine` distinguishes several engines in it. */
export function currentOwner(engine: string): LeaseOwner {
  const self = findProcess(process.pid);
  const processStart = self.kind === "found" ? self.start : UNKNOWN;
  return { host: hostName(), bootId: bootId(), pid: process.pid, processStart, engine };
}

/** Whether the owner is certainly dead: its process ran on this host and no longer exists. */
export function isDead(owner: LeaseOwner): boolean {
  if (owner.host !== hostName()) return false;
  const boot = bootId();
  if (owner.bootId !== boot && owner.bootId !== UNKNOWN && boot !== UNKNOWN) return true;
  const found = findProcess(owner.pid);
  if (found.kind !== "found") return found.kind === "gone";
  return found.start !== owner.processStart && owner.processStart !== UNKNOWN;
}

/**
 * The host's name. A container may share the machine's name and boot but not its process ids, and a look-up of a pid
 * there could take a living process for dead. So any process namespace except the first is part of the name.
 */
function hostName(): string {
  const namespace = read(() => readlinkSync("/proc/self/ns/pid"));
  return namespace === null || namespace === FIRST_PID_NAMESPACE ? hostname() : `${hostname()}/${namespace}`;
}

function bootId(): string {
  return (
    read(() => readFileSync("/proc/sys/kernel/random/boot_id", "utf8").trim()) ??
    read(() => runCommand("sysctl", ["-n", "kern.bootsessionuuid"])) ??
    UNKNOWN
  );
}

/** `hidden`: the process may exist, but this user cannot see it. */
type FoundProcess = { readonly kind: "found"; readonly start: string } | { readonly kind: "gone" | "hidden" };

function findProcess(pid: number): FoundProcess {
  const stat = read(() => readFileSync(`/proc/${pid}/stat`, "utf8"));
  if (stat !== null) return parseStat(stat);
  if (!mayExist(pid)) return { kind: "gone" };
  const start = startOf(pid);
  return start === null ? { kind: "hidden" } : { kind: "found", start };
}

/**
 * The start time of a process. It is cached, because a program is started to find it, and code that waits for a process
 * asks several times a second.
 */
function startOf(pid: number): string | null {
  const known = STARTS.get(pid);
  if (known !== undefined && performance.now() - known.readAt < START_IS_TRUSTED_MS) return known.start;
  const start = read(() => runCommand("ps", ["-o", "lstart=", "-p", String(pid)]));
  if (start !== null) STARTS.set(pid, { start, readAt: performance.now() });
  return start;
}

/**
 * Reads /proc/PID/stat. Fields count from 1; the second is the program's name in brackets, which may itself contain
 * blanks and brackets.
 */
export function parseStat(stat: string): FoundProcess {
  const fields = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
  const state = fields[0];
  const start = fields[STAT_START_TIME - STAT_STATE];
  if (state === "Z" || state === "X") return { kind: "gone" };
  return start === undefined ? { kind: "hidden" } : { kind: "found", start };
}

function mayExist(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return !(error instanceof Error && "code" in error && error.code === "ESRCH");
  }
}

function runCommand(command: string, args: readonly string[]): string | null {
  const output = execFileSync(command, args, {
    encoding: "utf8",
    stdio: ["ignore", "pipe", "ignore"],
    timeout: COMMAND_TIMEOUT_MS,
    env: { ...process.env, LC_ALL: "C", TZ: "UTC" },
  });
  return output.trim() === "" ? null : output.trim();
}

function read(attempt: () => string | null): string | null {
  try {
    return attempt();
  } catch {
    return null;
  }
}
