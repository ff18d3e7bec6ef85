import type { SharedBreakers } from "../../core/breakers/breaker.js";
import type { NotifyRule } from "../../core/model/definition.js";
import type { Event } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { Worker } from "../worker.js";
import type { Clock } from "./clock.js";
import type { CancelRun } from "./places/place-queue.js";
import type { ReadArtifact } from "./variables.js";
import type { WorkspaceKeeper } from "./workspace/workspace-keeper.js";

export interface EngineOptions {
  readonly store: Store;
  readonly worker: Worker;
  readonly sandbox: Sandbox;
  readonly clock: Clock;
  readonly owner: LeaseOwner;
  readonly readArtifact: ReadArtifact;
  /** An unguessable mark for one attempt. */
  readonly newToken: () => string;
  /** Whether the process that owns a lease is known to be gone. */
  readonly isDead: (owner: LeaseOwner) => boolean;
  /** Without it, only the log records failures. */
  readonly failures?: FailureKeeper;
  /** Needed by runs with a workspace. */
  readonly workspaces?: WorkspaceKeeper;
  /**
   * A snapshot of each run is made after this many events. By default 20,000, or twice the run's number of jobs if that
   * is more.
   */
  readonly snapshotEvents?: number;
  /** Shared breakers of the settings, by name. Those of a workflow are part of its definition. */
  readonly breakers?: SharedBreakers;
  /** Notification rules of the settings. Those of a workflow are part of its definition. */
  readonly notify?: readonly NotifyRule[];
  /** Called when something was committed that people may need to be notified of. */
  readonly onNotices?: () => void;
  /** Cancels a run, whichever process runs it: for runs that replace others of their group. */
  readonly cancelRun?: CancelRun;
  /** Called with a sentence for people. */
  readonly tell?: (text: string) => void;
  /** How long an owner on another host that shows no sign of life keeps its runs. By default 30 s. */
  readonly leaseMs?: number;
}

/** Writes what is known about failures for steps and people to read, before any consequence begins. */
export interface FailureKeeper {
  /** Returns what to write once these events are committed; null for nothing. `run` is the run right after them. */
  plan(run: Run, events: readonly Event[]): (() => void) | null;
}
