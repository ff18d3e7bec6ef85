/** One tree of files that steps work in: the run's workspace, or a candidate for it. */
export interface Workspace {
  readonly runId: number;
  /** Its number within the run; the pointer names it. */
  readonly tree: number;
  readonly path: string;
  /** The user's repository, as an absolute path. */
  readonly repo: string;
  /** The pinned commit that everything starts from. */
  readonly commit: string;
  /** What its trees begin with: the pinned commit, or where it has submodules one that holds their files. */
  readonly base: string;
  /** Unique to the output folder that it lies in; empty for one that an older version made. */
  readonly home: string;
}

/** What a step left behind. With this and the patch file, its tree can be made again on any machine. */
export interface Checkpoint {
  /** The place among the run's checkpoints, superseded ones counted. */
  readonly ordinal: number;
  /** Made of the files and the checkpoint before, and of nothing else: a replay must come to the same. */
  readonly commit: string;
  /** null if the step changed nothing. */
  readonly diff_hash: string | null;
  /** Relative to the run's folder. */
  readonly patch: string;
}
