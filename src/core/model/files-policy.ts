/** What becomes of a workspace's files on the way back to a step that has run: they stay, or are as they were before it. */
export const FILES_POLICIES = ["keep", "restore"] as const;
export type FilesPolicy = (typeof FILES_POLICIES)[number];

/** What has become of changes that earlier attempts had made in the workspace, for the next one to hear. */
export interface EarlierFiles {
  /**
   * What became of the files. Those that completed before a way back are `kept` or were `taken_back`; those of a lost
   * attempt that is continued are `unfinished`. They are missing in a rebuilt folder (`fresh`), and in one that went
   * back to its last checkpoint because an attempt was `lost` or another step needed it (`set_back`). `set_aside`: what
   * another step had left there.
   */
  readonly state: "kept" | "unfinished" | "taken_back" | "fresh" | "lost" | "set_back" | "set_aside";
  /** Whose they were; null: the job's own. */
  readonly step: string | null;
  /** The first of them. */
  readonly files: readonly string[];
  /** For unfinished work: the attempts that made it. */
  readonly attempts: readonly number[];
  /** Below the run's folder; null: there is none, or it lies elsewhere. */
  readonly patch: string | null;
}

/** The value of $DARUMA_PREVIOUS_PATCH: the last patch of the job's own changes that are not in its folder. */
export function previousPatch(earlier: readonly EarlierFiles[]): string | null {
  return earlier.findLast(({ step, patch }) => step === null && patch !== null)?.patch ?? null;
}

/** What attempts that did not complete have left in a tree; of which they are, and the last patch of it. */
export interface LeftBehind {
  readonly attempts: readonly number[];
  readonly files: readonly string[];
  /** Null if it is too large. */
  readonly patch: string | null;
}

/** What a job knew of its files before it began in a fresh workspace. */
export interface KnownBefore {
  /** How much of what became of earlier changes. */
  readonly told: number;
  readonly leftBehind: LeftBehind | null;
}
