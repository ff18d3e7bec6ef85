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
