import type {
  AttemptName,
  KeptLeftover,
  MovedCheckpoint,
  ResetTrigger,
  WorkspaceHome,
  WorkspaceNote,
} from "./event-parts.js";

/** The events of workspaces, hard resets and the queue. */
export type HealEvent =
  | {
      readonly type: "reset.reserved";
      readonly job: number;
      readonly attempt: number;
      readonly trigger: ResetTrigger;
      /** Of the run's hard resets; null where it costs none. */
      readonly reset: number | null;
      readonly max: number | null;
      readonly reason: string;
      readonly key: string | null;
    }
  | {
      readonly type: "requeue.scheduled";
      readonly job: number;
      readonly attempt: number;
      readonly requeue: number;
      readonly max: number;
      readonly delayMs: number;
      readonly dueAt: number;
      readonly reason: string;
    }
  | {
      readonly type: "job.dead_lettered";
      readonly job: number;
      readonly attempt: number;
      readonly code: string;
      readonly queueAttempts: number;
    }
  | ({
      readonly type: "workspace.opened";
      readonly commit: string;
      /** Where the commit has submodules: the one that holds their files, and that changes are counted from. */
      readonly base?: string;
      readonly path: string;
      readonly notes?: readonly WorkspaceNote[];
    } & Partial<WorkspaceHome>)
  /** Another server has built it from the checkpoints in an output folder of its own, where steps work from now on. */
  | ({
      readonly type: "workspace.moved";
      readonly path: string;
      readonly moved?: readonly MovedCheckpoint[];
    } & WorkspaceHome)
  /** A server could not have the workspace, and leaves the run to one that can. */
  | { readonly type: "workspace.left"; readonly host: string; readonly message: string }
  | {
      readonly type: "rebuild.started";
      readonly rebuild: number;
      /** The job that is to go on in it; for a goto, its target. */
      readonly job: number;
      readonly barrier: number | null;
      readonly try: number;
      /** Ordinals of the checkpoints to replay, in order. */
      readonly replay: readonly number[];
      /** What lies in the workspace that a goto is about to replace; it is kept as a patch where that is possible. */
      readonly leftover?: AttemptName | null;
    }
  | {
      readonly type: "rebuild.finished";
      readonly rebuild: number;
      readonly job: number;
      readonly ok: boolean;
      readonly path: string | null;
      readonly message: string;
      /** What replayed checkpoints are called in it; where none is named, as before. */
      readonly moved?: readonly MovedCheckpoint[];
      readonly partial?: KeptLeftover | null;
      readonly durationMs: number;
    }
  | {
      /** What an attempt left goes into a patch, and the tree back to the last checkpoint. */
      readonly type: "set_aside.started";
      readonly job: number;
      readonly attempt: number;
      /** The job that is to start there. */
      readonly for: number;
      /** The fresh workspace in which it lies; null: the run's own. */
      readonly rebuild: number | null;
      readonly try: number;
    }
  | {
      readonly type: "set_aside.finished";
      readonly job: number;
      readonly attempt: number;
      readonly for: number;
      readonly ok: boolean;
      /** Relative to the run's folder; null where nothing was left. */
      readonly patch: string | null;
      readonly files: number;
      readonly message: string;
      readonly durationMs: number;
    }
  | {
      readonly type: "workspace.promoted";
      readonly rebuild: number;
      readonly job: number;
      readonly path: string;
    }
  | {
      readonly type: "workspace.discarded";
      readonly rebuild: number;
      readonly job: number;
      readonly path: string | null;
      readonly reason: string;
    };
