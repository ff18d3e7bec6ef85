import type {
  AttemptName,
  KeptLeftover,
  MovedCheckpoint,
  WorkspaceHome,
  WorkspaceNote,
} from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";

/** A run's workspace that is to be made for the first time. */
export interface NewWorkspace {
  readonly runId: number;
  /** As the file names it; a relative path starts at `folder`. */
  readonly repo: string;
  readonly ref: string;
  /** Empty where the run has none. */
  readonly folder: string;
}

export interface OpenedWorkspace {
  readonly commit: string;
  /** Where it is not the commit itself: what changes are counted from. */
  readonly base?: string;
  readonly notes?: readonly WorkspaceNote[];
  readonly home?: string;
  readonly host?: string;
  readonly path: string;
}

export interface TakenOver extends WorkspaceHome {
  readonly path: string;
  readonly moved?: readonly MovedCheckpoint[];
}

/** A fresh workspace that is wanted: the run's pinned commit with these checkpoints on top, in this order. */
export interface WantedWorkspace {
  readonly run: Run;
  readonly rebuild: number;
  /** Ordinals of `run.workspace.checkpoints`. */
  readonly replay: readonly number[];
  /** Whose leftovers lie in the active one, which is about to go; they are kept as a patch where that is possible. */
  readonly leftover: AttemptName | null;
  /** A way back asks for it: what goes with the checkpoints that it cuts off is kept as a patch where that is possible. */
  readonly goesBack: boolean;
}

export type BuiltWorkspace =
  | {
      readonly ok: true;
      readonly path: string;
      readonly moved?: readonly MovedCheckpoint[];
      readonly partial?: KeptLeftover | null;
      /** What the checkpoints that are not replayed had changed, relative to the run's folder. */
      readonly previous?: string | null;
    }
  | { readonly ok: false; readonly message: string };

/** What an attempt has left in one of the run's workspaces, and that is to go. */
export interface UnwantedLeftover extends AttemptName {
  readonly run: Run;
  /** Where it lies. */
  readonly path: string;
}

export type SetAside =
  /** `patch` is relative to the run's folder, null where nothing was left. */
  | { readonly ok: true; readonly patch: string | null; readonly files: number }
  | { readonly ok: false; readonly message: string };

/** Makes the workspaces of runs, and builds new ones beside the active one, which it never touches. */
export interface WorkspaceKeeper {
  /**
   * Rejects with a WORKSPACE_* code where there is no such repository or commit. What a run that never came to be on
   * record has left under this id is removed.
   */
  open(wanted: NewWorkspace): Promise<OpenedWorkspace>;
  /**
   * A new owner has taken the run: what the log says of its workspace becomes true on disk, too. Where it lies in another
   * output folder it is built here from its checkpoints: then the answer says where. Rejects with WORKSPACE_ELSEWHERE if
   * that cannot be done.
   */
  takeUp(run: Run): Promise<TakenOver | null>;
  /** Replays and verifies every hash. The same `rebuild` may be asked for again after a crash. */
  rebuild(wanted: WantedWorkspace, signal: AbortSignal): Promise<BuiltWorkspace>;
  /**
   * Puts all that differs from the last checkpoint into a patch, then brings those files back to it, in place. Ignored
   * files stay. The same may be asked for again after a crash, and the patch that is there by then stays as it is.
   */
  setAside(unwanted: UnwantedLeftover): Promise<SetAside>;
  /** What was built is the run's workspace from now on. */
  promote(built: { readonly runId: number; readonly path: string }): Promise<void>;
  /** Nobody wants it any more; `path` is null where it was not finished. */
  discard(dropped: {
    readonly runId: number;
    readonly rebuild: number;
    readonly path: string | null;
  }): Promise<void>;
}

/** For an engine whose runs have none. */
export const noWorkspaces: WorkspaceKeeper = {
  open: () => Promise.reject(new TypeError("this engine cannot make workspaces")),
  takeUp: () => Promise.resolve(null),
  rebuild: () => Promise.resolve({ ok: false, message: "this engine cannot build workspaces" }),
  setAside: () => Promise.resolve({ ok: false, message: "this engine has no workspaces" }),
  promote: () => Promise.resolve(),
  discard: () => Promise.resolve(),
};
