import { DarumaError } from "../../../core/errors/errors.js";
import type { Command } from "../../../core/model/commands.js";
import type {
  AttemptName,
  KeptFiles,
  KeptLeftover,
  MovedCheckpoint,
  WorkspaceHome,
  WorkspaceNote,
} from "../../../core/model/events.js";
import type { Run } from "../../../core/model/run.js";
import { messageOf } from "../../../core/text/message-of.js";
import type { EngineOptions } from "../engine-options.js";
import type { RunHost } from "../run-host.js";

/** A run's workspace that is to be created. */
export interface NewWorkspace {
  readonly runId: number;
  /** The repository as the file names it. A relative path starts at `folder`. */
  readonly repo: string;
  readonly ref: string;
  /** Empty if the run has none. */
  readonly folder: string;
}

export interface OpenedWorkspace {
  readonly commit: string;
  /** The commit from which changes are counted, if it is not `commit` itself. */
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

/** A requested rebuild: the run's pinned commit with these checkpoints on top, in this order. */
export interface WantedWorkspace {
  readonly run: Run;
  readonly rebuild: number;
  /** Ordinals of `run.workspace.checkpoints`. */
  readonly replay: readonly number[];
  /**
   * The attempt whose leftovers are in the active workspace, which is about to be removed. They are saved as a patch if
   * possible.
   */
  readonly leftover: AttemptName | null;
  /** Whether the run goes back. The changes of checkpoints that are cut off are then saved as a patch if possible. */
  readonly goesBack: boolean;
}

export type BuiltWorkspace =
  | {
      readonly ok: true;
      readonly path: string;
      readonly moved?: readonly MovedCheckpoint[];
      readonly partial?: KeptLeftover | null;
      /** Changes in the active workspace that no attempt had made, such as those of a person. */
      readonly others?: KeptFiles | null;
      /** The patch of what the omitted checkpoints had changed, relative to the run's folder. */
      readonly previous?: string | null;
    }
  | { readonly ok: false; readonly message: string };

/** What an attempt has left in one of the run's workspaces and that is to be removed. */
export interface UnwantedLeftover extends AttemptName {
  readonly run: Run;
  /** The path of that workspace. */
  readonly path: string;
}

export type SetAside =
  /** `patch` is relative to the run's folder; null if nothing was left. */
  | { readonly ok: true; readonly patch: string | null; readonly files: number }
  | { readonly ok: false; readonly message: string };

/** Creates the workspaces of runs, and builds new ones beside the active one, which it never touches. */
export interface WorkspaceKeeper {
  /**
   * Creates a workspace. Rejects with a WORKSPACE_* code if the repository or commit does not exist. Removes what a run
   * with this id left behind that was never put on record.
   */
  open(wanted: NewWorkspace): Promise<OpenedWorkspace>;
  /**
   * Makes the workspace on disk match the log after a new owner has taken the run. If it was in another output folder,
   * it is rebuilt here from its checkpoints, and the result says where. Rejects with WORKSPACE_ELSEWHERE if that is
   * impossible.
   */
  takeUp(run: Run): Promise<TakenOver | null>;
  /** Replays checkpoints and verifies every hash. The same `rebuild` may be repeated after a crash. */
  rebuild(wanted: WantedWorkspace, signal: AbortSignal): Promise<BuiltWorkspace>;
  /**
   * Saves all differences from the last checkpoint as a patch, then restores these files in place. Ignored files stay.
   * May be repeated after a crash; an existing patch is then kept.
   */
  setAside(unwanted: UnwantedLeftover): Promise<SetAside>;
  /** Makes a rebuilt workspace the run's workspace. */
  promote(built: { readonly runId: number; readonly path: string }): Promise<void>;
  /** Removes a workspace that nobody needs any more. `path` is null if it was not finished. */
  discard(dropped: {
    readonly runId: number;
    readonly rebuild: number;
    readonly path: string | null;
  }): Promise<void>;
}

/** For an engine whose runs have no workspaces. */
export const noWorkspaces: WorkspaceKeeper = {
  open: () => Promise.reject(new TypeError("this engine cannot make workspaces")),
  takeUp: () => Promise.resolve(null),
  rebuild: () => Promise.resolve({ ok: false, message: "this engine cannot build workspaces" }),
  setAside: () => Promise.resolve({ ok: false, message: "this engine has no workspaces" }),
  promote: () => Promise.resolve(),
  discard: () => Promise.resolve(),
};

/**
 * The commands for a run once this engine can use its workspace. If the workspace cannot be reached, the run does not
 * fail: this is recorded, and the run is left to another engine (WORKSPACE_ELSEWHERE).
 */
export async function takeUpWorkspace(
  keeper: WorkspaceKeeper,
  host: RunHost,
  { clock, owner }: Pick<EngineOptions, "clock" | "owner">,
): Promise<Command[]> {
  if (host.run.workspace.path === null) return [];
  try {
    const movedTo = await keeper.takeUp(host.run);
    return movedTo === null ? [] : [{ type: "workspace.move", ...movedTo }];
  } catch (error) {
    // If it is missing in its own folder, the step that needs it fails.
    if (!isElsewhere(error)) return [];
    host.take({ type: "workspace.leave", host: owner.host, message: messageOf(error) }, clock.now());
    throw error;
  }
}

export function isElsewhere(error: unknown): boolean {
  return error instanceof DarumaError && error.code === "WORKSPACE_ELSEWHERE";
}
