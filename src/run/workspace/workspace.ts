import type { WorkspaceNote } from "../../core/model/events.js";
import type { CheckpointInput, MadeCheckpoint } from "./checkpoint.js";
import type { CheckpointCommit, Replay } from "./rebuild.js";
import type { Leftovers } from "./set-aside.js";

/** A tree of files that steps work in: the run's workspace, or a candidate for it. */
export interface Workspace {
  readonly runId: number;
  /** The tree's number within the run. The pointer names it. */
  readonly tree: number;
  readonly path: string;
  /** The user's repository, as an absolute path. */
  readonly repo: string;
  /** The pinned commit that everything starts from. */
  readonly commit: string;
  /** The commit that trees begin with: the pinned one, or with submodules a commit that holds their files. */
  readonly base: string;
  /** An id unique to the output folder. Empty for a workspace made by an older version. */
  readonly home: string;
}

/** What a step left behind. With this and the patch file, any machine can rebuild its tree. */
export interface Checkpoint {
  /** Position among the run's checkpoints, including superseded ones. */
  readonly ordinal: number;
  /** A commit made only from the files and the previous checkpoint, so that a replay gives the same id. */
  readonly commit: string;
  /** null if the step changed nothing. */
  readonly diff_hash: string | null;
  /** Relative to the run's folder. */
  readonly patch: string;
}

export interface WorkspaceChanges {
  /** The hash of the changes; null if there are none. */
  readonly diffHash: string | null;
  /** The first changed files. */
  readonly changedFiles: readonly string[];
  readonly changedFileCount: number;
}

export interface FailedChanges extends WorkspaceChanges {
  /** The patch, relative to the run's folder. Null if it is too large, missing if there is nothing to keep. */
  readonly patch?: string | null;
}

export interface ResultPatch {
  readonly file: string;
  readonly changedFileCount: number;
}

export interface RebuiltWorkspace extends Workspace {
  /** Checkpoints that got another commit here because an earlier one was undone. */
  readonly moved?: readonly CheckpointCommit[];
}

/**
 * The git workspaces of runs. A run has one caller at a time (the owner of its lease); different runs do not interfere,
 * even in the same repository. `since` is always the commit of the last checkpoint that counts, or the base.
 */
export interface Workspaces {
  /** Makes the run's workspace at the commit that `ref` names now, or returns the existing one. */
  create(runId: number, from: { readonly repo: string; readonly ref: string }): Promise<Workspace>;
  /** What a user could miss in the workspace. */
  notes(workspace: Workspace): Promise<WorkspaceNote[]>;
  /** The tree that the pointer names. It is always whole, or null. */
  current(runId: number): Promise<Workspace | null>;
  /** The tree that was made at this path, such as a candidate from before a restart. Null if it is gone. */
  find(runId: number, path: string): Promise<Workspace | null>;
  changes(workspace: Workspace, since: string): Promise<WorkspaceChanges>;
  /** The changes of a failed attempt. Also saves them as a patch under the attempt's name. */
  keepFailed(workspace: Workspace, of: OfFailed): Promise<FailedChanges>;
  /** Those of the paths that exist in the user's working tree but not in the workspace's base. */
  uncommitted(workspace: Workspace, names: readonly string[]): Promise<readonly string[]>;
  checkpoint(workspace: Workspace, input: CheckpointInput): Promise<MadeCheckpoint>;
  /** Saves what an attempt left since the last checkpoint as a patch under its name. The tree is not changed. */
  keepLeftovers(workspace: Workspace, of: OfAttempt): Promise<Leftovers>;
  /** Saves changes of which no attempt knows as a patch, named after the fresh workspace that is to be built. */
  keepOthers(workspace: Workspace, of: OfOthers): Promise<Leftovers>;
  /** Does the same as `keepLeftovers`, then restores the files of the last checkpoint in place. May be repeated. */
  setAside(workspace: Workspace, of: OfAttempt): Promise<Leftovers>;
  /** Saves the difference of two commits as a patch, named after a fresh workspace. Null if they are the same. */
  keepDifference(runId: number, between: Between): Promise<string | null>;
  /** Builds a candidate beside the workspace, which is not changed. Removes other candidates of the run first. */
  rebuild(runId: number, from: Replay & { readonly repo: string }): Promise<RebuiltWorkspace>;
  /** Makes the candidate the workspace, then removes the old tree. May be repeated. */
  promote(candidate: Workspace): Promise<void>;
  discard(candidate: Workspace): Promise<void>;
  /**
   * The id of this output folder's home of the run. Several folders may have one; only the one named in the run's log
   * is valid.
   */
  home(runId: number): Promise<string | null>;
  /** Builds a workspace here, as a new home, for a run that another output folder had. */
  takeOver(runId: number, to: Replay & { readonly repo: string }): Promise<RebuiltWorkspace>;
  /** Rebuilds the workspace as of the last given checkpoint beside the present one, then promotes it. */
  restore(runId: number, to: Replay & { readonly repo: string }): Promise<Workspace>;
  /** Writes everything that differs from the base now as one patch. */
  resultPatch(
    workspace: Workspace,
    to: { readonly since: string; readonly file: string },
  ): Promise<ResultPatch>;
  /**
   * Makes the same changes one commit on a new branch of a repository that has the pinned commit. Returns the commit.
   */
  resultBranch(workspace: Workspace, to: ResultBranch): Promise<string>;
  /** Removes the workspace. Patches and states stay, since they belong to the record of the run. */
  remove(runId: number): Promise<void>;
}

export interface OfAttempt {
  readonly since: string;
  readonly job: number;
  readonly attempt: number;
}

export interface OfFailed extends OfAttempt {
  readonly maxBytes: number;
}

export interface OfOthers {
  readonly since: string;
  readonly rebuild: number;
  /** The hash of the changes that are kept elsewhere; null: none are. */
  readonly known: string | null;
}

export interface Between {
  readonly rebuild: number;
  readonly from: string;
  readonly to: string;
}

export interface ResultBranch {
  readonly since: string;
  readonly repo: string;
  readonly name: string;
  readonly message: string;
  readonly at: number;
}
