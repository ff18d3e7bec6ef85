import type { ProcessUsage } from "../../core/model/events.js";
import type { Shell } from "../../core/model/shell.js";

/** Signals with less time between them count as one. */
const AT_ONCE_MS = 100;

/**
 * Signals that stop everything on a machine or in a batch job, as the launchers see them. A signal to all processes
 * reaches the launchers beside the steps; one that only asks a worker to finish does not.
 */
export class StopSignals {
  /** When they came, by `performance.now()`. */
  private readonly times: number[] = [];
  private readonly listeners = new Set<() => void>();

  came(at = performance.now()): void {
    // Each launcher tells of the same one.
    if (at - (this.times.at(-1) ?? Number.NEGATIVE_INFINITY) > AT_ONCE_MS) this.times.push(at);
    for (const listener of this.listeners) listener();
  }

  /** The first signal since then; null if there was none. */
  firstSince(then: number): number | null {
    return this.times.find((at) => at >= then) ?? null;
  }

  /** The answer takes it back. */
  onCame(listener: () => void): () => void {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  }
}

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

interface SpawnError {
  /** Name of the system's error, such as ENOENT. */
  readonly code: string;
  readonly message: string;
}
