import { type ChildProcess, spawn } from "node:child_process";
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { Readable } from "node:stream";
import { GroupEnding } from "./group-ending.js";
import { GroupWatchdog } from "./group-watchdog.js";
import { argvOf, findUnusable } from "./launcher-protocol.js";
import { describeSpawnError, spawnFailure } from "./process-exit.js";
import type { ProcessExit, ProcessHost, ProcessSpec, RunningProcess } from "./process-host.js";

/** Between two looks at a group that should become empty. */
const GROUP_POLL_MS = 5;
/** No pipe holds more: what is left in it when the group has gone is less than this. */
const MAX_DRAIN_BYTES = 1024 * 1024;
/** A pipe that a process outside the group keeps open is closed when nothing has come out of it for this long. */
const DRAIN_QUIET_MS = 50;

/** Starts processes with Node's own spawn: slower than a launcher, but needs nothing but a POSIX system. */
export class SpawnHost implements ProcessHost {
  readonly stops = null;
  private readonly running = new Set<RunningProcess>();
  private watchdog: GroupWatchdog | null = null;

  start(spec: ProcessSpec): RunningProcess {
    const unusable = findUnusable(spec);
    if (unusable !== null) return refused(spawnFailure(spec, "EINVAL", unusable, "exec"));
    let child: ChildProcess;
    try {
      child = spawnDetached(spec);
    } catch (error) {
      return refused(spawnErrorOf(spec, error));
    }
    if (child.pid === undefined) {
      return refused(
        new Promise((resolve) => child.once("error", (error) => resolve(spawnErrorOf(spec, error)))),
      );
    }
    return this.supervise(spec, child, child.pid);
  }

  async close(): Promise<void> {
    await Promise.all([...this.running].map((process) => process.terminate(0)));
    await this.watchdog?.close();
    this.watchdog = null;
  }

  private supervise(spec: ProcessSpec, child: ChildProcess, group: number): RunningProcess {
    this.watchdog ??= new GroupWatchdog();
    this.watchdog.add(group);
    const abandoned = new AbortController();
    const ending = new GroupEnding({
      signal: (name) => signalGroup(group, name),
      abandon: () => abandoned.abort(),
    });
    child.stdout!.on("data", (chunk: Buffer) => spec.onStdout(chunk));
    child.stderr!.on("data", (chunk: Buffer) => spec.onStderr(chunk));
    if (spec.stdin !== undefined) {
      // A process may end without reading all of it.
      child.stdin!.on("error", () => {});
      child.stdin!.end(spec.stdin);
    }
    const exited = followToEnd(child, group, ending, abandoned.signal);
    const running: RunningProcess = {
      exited,
      terminate: async (graceMs) => {
        ending.terminate(graceMs);
        await exited;
      },
    };
    this.running.add(running);
    void exited.then(() => {
      this.running.delete(running);
      this.watchdog?.remove(group);
    });
    return running;
  }
}

function spawnDetached(spec: ProcessSpec): ChildProcess {
  const [file, ...args] = argvOf(spec);
  return spawn(file!, args, {
    cwd: spec.cwd,
    env: spec.env,
    detached: true,
    stdio: [spec.stdin === undefined ? "ignore" : "pipe", "pipe", "pipe"],
  });
}

async function followToEnd(
  child: ChildProcess,
  group: number,
  ending: GroupEnding,
  abandoned: AbortSignal,
): Promise<ProcessExit> {
  const outputEnd = Promise.all([streamEnd(child.stdout!), streamEnd(child.stderr!)]);
  const exit = await new Promise<ProcessExit>((resolve) => {
    const collected = (exitCode: number | null, signal: string | null): void =>
      resolve({ exitCode, signal, collectedAt: performance.now() });
    child.once("exit", collected);
    abandoned.addEventListener("abort", () => collected(null, "SIGKILL"));
  });
  if (isGroupAlive(group)) ending.leftBehind();
  while (!abandoned.aborted && isGroupAlive(group)) {
    await new Promise((resolve) => setTimeout(resolve, GROUP_POLL_MS));
  }
  ending.ended();
  await Promise.race([outputEnd, drain(child)]);
  child.stdout!.destroy();
  child.stderr!.destroy();
  return exit;
}

function streamEnd(stream: Readable): Promise<void> {
  return new Promise((resolve) => {
    stream.once("close", () => resolve());
    stream.once("error", () => resolve());
  });
}

/** Resolves when nothing that the group has written can still be in the pipes. */
function drain(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    let bytes = 0;
    const quiet = setTimeout(() => {
      const before = bytes;
      // When the event loop was held up, timers fire before what has arrived is read: look again after the reading.
      setImmediate(() => (bytes === before || bytes > MAX_DRAIN_BYTES ? resolve() : quiet.refresh()));
    }, DRAIN_QUIET_MS);
    const onData = (chunk: Buffer): void => {
      bytes += chunk.length;
    };
    child.stdout!.on("data", onData);
    child.stderr!.on("data", onData);
  });
}

function signalGroup(group: number, signal: NodeJS.Signals | 0): boolean {
  try {
    return process.kill(-group, signal);
  } catch {
    return false;
  }
}

/** Orphans that have died stay in the group until process 1 reaps them, which in a container may take seconds or for ever. */
function isGroupAlive(group: number): boolean {
  if (!signalGroup(group, 0)) return false;
  if (process.platform !== "linux") return true;
  return readdirSync("/proc").some((pid) => /^\d/.test(pid) && isLivingMember(pid, group));
}

function isLivingMember(pid: string, group: number): boolean {
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "latin1");
    // The name, in brackets, may itself hold blanks and brackets; state, parent and group follow it.
    const [state, , itsGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return Number(itsGroup) === group && state !== "Z" && state !== "X";
  } catch {
    return false;
  }
}

function refused(exit: ProcessExit | Promise<ProcessExit>): RunningProcess {
  const exited = Promise.resolve(exit);
  return {
    exited,
    terminate: async () => {
      await exited;
    },
  };
}

function spawnErrorOf(spec: ProcessSpec, error: unknown): ProcessExit {
  // Node does not tell a missing folder from a missing program.
  const folder = statSync(spec.cwd, { throwIfNoEntry: false });
  if (folder === undefined) return spawnFailure(spec, "ENOENT", "no such file or directory", "cwd");
  if (!folder.isDirectory()) return spawnFailure(spec, "ENOTDIR", "not a directory", "cwd");
  const errno = (error as NodeJS.ErrnoException).errno;
  return errno === undefined
    ? spawnFailure(spec, "EINVAL", String(error), "exec")
    : describeSpawnError(spec, -errno, "exec");
}
