/** What becomes of a workspace's files on the way back to a step that has run: they stay, or are as they were before it. */
export const FILES_POLICIES = ["keep", "restore"] as const;
export type FilesPolicy = (typeof FILES_POLICIES)[number];

/** What has become of changes that earlier attempts had made in the workspace, for the next one to hear. */
export interface EarlierFiles {
  /**
   * What completed before a way back is there (`kept`), or was taken back; so is what a lost attempt left that is gone on with
   * (`unfinished`). It is not in a folder that was made anew (`fresh`), nor in one that went back to its last checkpoint, because an
   * attempt was `lost` or because another step needed it (`set_back`). `set_aside`: what another step had left there.
   */
  readonly state: "kept" | "unfinished" | "taken_back" | "fresh" | "lost" | "set_back" | "set_aside";
  /** Whose they were; null: the job's own. */
  readonly step: string | null;
  /** The first of them. */
  readonly files: readonly string[];
  /** Of what did not complete: the attempts that made them. */
  readonly attempts: readonly number[];
  /** Below the run's folder; null: there is none, or it lies elsewhere. */
  readonly patch: string | null;
}

/** For $DARUMA_PREVIOUS_PATCH: the last patch of the job's own changes that are not in its folder. */
export function previousPatch(earlier: readonly EarlierFiles[]): string | null {
  return earlier.findLast(({ step, patch }) => step === null && patch !== null)?.patch ?? null;
}

/** What attempts that did not complete have left in a tree; of which they are, and the last patch of it. */
export interface LeftBehind {
  readonly attempts: readonly number[];
  readonly files: readonly string[];
  /** Null: it is too large to be kept. */
  readonly patch: string | null;
}

/** What a job knew of its files before it began in a fresh workspace. */
export interface KnownBefore {
  /** How much of what became of earlier changes. */
  readonly told: number;
  readonly leftBehind: LeftBehind | null;
}
