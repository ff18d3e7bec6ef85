import type { SharedBreakers } from "../core/breakers/breakers-of.js";
import type { NotifyRule } from "../core/model/definition.js";
import type { Sandbox } from "../sandbox/sandbox.js";
import type { LeaseOwner, Store } from "../store/store.js";
import type { Worker } from "../worker/worker.js";
import type { Clock } from "./clock.js";
import type { FailureKeeper } from "./failure-keeper.js";
import type { CancelRun } from "./places/replacing.js";
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
  /** Without one nothing is left of failures but the log. */
  readonly failures?: FailureKeeper;
  /** Needed by runs with a workspace. */
  readonly workspaces?: WorkspaceKeeper;
  /** A snapshot of each run after so many events; by default 20,000, or twice as many as the run has jobs. */
  readonly snapshotEvents?: number;
  /** Of the settings, by name; those of a workflow come with it. */
  readonly breakers?: SharedBreakers;
  /** Who is told of what, by the settings; a workflow's own rules come with it. */
  readonly notify?: readonly NotifyRule[];
  /** Called when something was committed that people may have to hear. */
  readonly onNotices?: () => void;
  /** Cancels a run, whoever runs it: for those that replace the runs of their group. */
  readonly cancelRun?: CancelRun;
  /** Called with a sentence for people. */
  readonly tell?: (text: string) => void;
  /** How long a silent owner on another host keeps its runs; by default 30 s. */
  readonly leaseMs?: number;
}
