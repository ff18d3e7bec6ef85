import type { ProcessUsage } from "../../core/model/events.js";
import type { Shell } from "../../core/model/shell.js";
import type { StopSignals } from "./stop-signals.js";

/** Starts processes for attempts. Each runs in a process group of its own, away from the terminal's signals. */
export interface ProcessHost {
  /** Null if no signals reach this host together with its processes. */
  readonly stops: StopSignals | null;
  start(spec: ProcessSpec): RunningProcess;
  /** Ends every process that still runs and whatever the host itself keeps running. */
  close(): Promise<void>;
}

export interface ProcessSpec {
  /** A string is run by `shell`; a list is run as it stands, with no shell. */
  readonly exec: string | readonly string[];
  /** Missing: plain `sh -c`. */
  readonly shell?: Shell;
  /** The whole environment: nothing is added to it. */
  readonly env: { readonly [name: string]: string };
  readonly cwd: string;
  /** What the process reads; without it, /dev/null. */
  readonly stdin?: string;
  /** Chunks are handed over as they come and belong to the callee; the host keeps none of them. */
  onStdout(chunk: Buffer): void;
  onStderr(chunk: Buffer): void;
}

export interface RunningProcess {
  /** Resolves, never rejects, when the whole process group is gone and all of its output has been handed over. */
  readonly exited: Promise<ProcessExit>;
  /** SIGTERM to the whole group, SIGKILL after the grace; resolves when the group is gone. A second call may only shorten the grace. */
  terminate(graceMs: number): Promise<void>;
}

/** How the main process ended. */
export interface ProcessExit {
  readonly exitCode: number | null;
  /** Name of the signal that ended it, such as SIGKILL. */
  readonly signal: string | null;
  /** It could not be started at all; exitCode and signal are null then. */
  readonly spawnError?: SpawnError;
  /** When its exit was collected, by `performance.now()`; what it left behind may live on. Missing: it never ran. */
  readonly collectedAt?: number;
  /** Missing where the host cannot tell. */
  readonly usage?: ProcessUsage;
}

export interface SpawnError {
  /** Name of the system's error, such as ENOENT. */
  readonly code: string;
  readonly message: string;
}
