import { type ChildProcess, spawn } from "node:child_process";
import type { Socket } from "node:net";
import { constants } from "node:os";
import type { GroupEnding } from "./group-ending.js";
import {
  encodeBaseEnvironment,
  encodeSignal,
  encodeStart,
  FrameReader,
  type FrameType,
} from "./launcher-protocol.js";
import { describeSpawnError, readExit } from "./process-exit.js";
import type { ProcessExit, ProcessSpec, RunningProcess } from "./process-host.js";

/** A job as its launcher knows it. */
export interface LauncherJob {
  readonly id: number;
  readonly spec: ProcessSpec;
  readonly ending: GroupEnding;
  readonly exited: Promise<ProcessExit>;
  readonly resolve: (exit: ProcessExit) => void;
  /** The leader of its process group, once the launcher has reported it. */
  pid: number | null;
  /** When the exit of its main process was collected; null: it runs. */
  collectedAt: number | null;
  /** Runs in place of the job where no launcher could. */
  substitute: RunningProcess | null;
}

/** `never_ready`: the launcher could not run at all, so none of its jobs has been started. */
export type GoneCause = "never_ready" | "lost" | "closed";

interface LauncherEvents {
  gone(jobs: readonly LauncherJob[], cause: GoneCause): void;
  toldToStop(): void;
}

/** One launcher process and the jobs it runs. */
export class Launcher {
  readonly gone: Promise<void>;
  private readonly jobs = new Map<number, LauncherJob>();
  private baseEnv: ProcessSpec["env"] | null = null;
  private isReady = false;
  private isClosing = false;

  /** Null if this process has no room for another one's pipes. */
  static start(file: string, events: LauncherEvents): Launcher | null {
    const child = startLauncher(file);
    if (child === null) return null;
    if (child.stdin && child.stdout) return new Launcher(child, events);
    child.on("error", () => {});
    return null;
  }

  private constructor(
    private readonly child: ChildProcess,
    private readonly events: LauncherEvents,
  ) {
    const frames = new FrameReader((type, id, payload) => this.onFrame(type, id, payload));
    this.child.stdout!.on("data", (chunk: Buffer) => frames.push(chunk));
    // Writing to a launcher that has died: its `close` event tells.
    this.child.stdin!.on("error", () => {});
    this.child.stdout!.on("error", () => {});
    this.gone = new Promise((resolve) => {
      const onEnd = (): void => {
        resolve();
        const jobs = [...this.jobs.values()];
        this.jobs.clear();
        events.gone(jobs, this.isClosing ? "closed" : this.isReady ? "lost" : "never_ready");
      };
      this.child.once("close", onEnd);
      this.child.once("error", onEnd);
    });
    this.holdEventLoop(false);
  }

  /** Jobs that start together reach the launcher in one write: each write wakes it up. */
  private send(frame: Uint8Array): void {
    const stdin = this.child.stdin!;
    if (stdin.writableCorked === 0) {
      stdin.cork();
      process.nextTick(() => stdin.uncork());
    }
    stdin.write(frame);
  }

  get running(): number {
    return this.jobs.size;
  }

  run(job: LauncherJob): void {
    if (this.jobs.size === 0) this.holdEventLoop(true);
    this.jobs.set(job.id, job);
    if (this.baseEnv === null) {
      this.baseEnv = { ...job.spec.env };
      this.send(encodeBaseEnvironment(this.baseEnv));
    }
    this.send(encodeStart(job.id, job.spec, this.baseEnv));
  }

  signal(id: number, name: "SIGTERM" | "SIGKILL"): void {
    this.child.stdin!.write(encodeSignal(id, constants.signals[name]));
  }

  abandon(id: number): void {
    this.child.stdin!.write(encodeSignal(id, 0));
  }

  /** The launcher kills what it runs as soon as its command pipe ends. */
  close(): Promise<void> {
    this.isClosing = true;
    this.holdEventLoop(true);
    this.child.stdin!.end();
    return this.gone;
  }

  private onFrame(type: FrameType, id: number, payload: Buffer): void {
    if (type === "H") {
      this.isReady = true;
      return;
    }
    if (type === "T") return this.events.toldToStop();
    const job = this.jobs.get(id);
    if (job === undefined) return;
    if (type === "O") job.spec.onStdout(payload);
    else if (type === "E") job.spec.onStderr(payload);
    else if (type === "S") job.pid = payload.readUInt32BE(0);
    else if (type === "L") this.leftBehind(job);
    else if (type === "X")
      this.settle(job, { ...readExit(payload), collectedAt: job.collectedAt ?? performance.now() });
    else
      this.settle(
        job,
        describeSpawnError(job.spec, payload.readUInt32BE(0), payload[4] === 1 ? "cwd" : "exec"),
      );
  }

  private leftBehind(job: LauncherJob): void {
    job.collectedAt = performance.now();
    job.ending.leftBehind();
  }

  private settle(job: LauncherJob, exit: ProcessExit): void {
    this.jobs.delete(job.id);
    if (this.jobs.size === 0 && !this.isClosing) this.holdEventLoop(false);
    job.ending.ended();
    job.resolve(exit);
  }

  private holdEventLoop(isNeeded: boolean): void {
    const method = isNeeded ? "ref" : "unref";
    this.child[method]();
    (this.child.stdin as Socket)[method]();
    (this.child.stdout as Socket)[method]();
  }
}

/** Null if the system has no memory for it now. Some errors are thrown instead of emitted. */
function startLauncher(file: string): ChildProcess | null {
  try {
    return spawn(file, [], {
      cwd: "/",
      // A session of its own: Ctrl-C in the terminal reaches neither the launcher nor its jobs.
      detached: true,
      stdio: ["pipe", "pipe", "ignore"],
    });
  } catch {
    return null;
  }
}
