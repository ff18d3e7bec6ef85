/** What becomes of a workspace's files on the way back to a step that has run: they stay, or are as they were before it. */
export const FILES_POLICIES = ["keep", "restore"] as const;
export type FilesPolicy = (typeof FILES_POLICIES)[number];

/** Where the changes of a job's earlier attempts are. */
export interface EarlierFiles {
  /** In the working folder, gone from it with a goto or a transition back, or not in one that a reset has made anew. */
  readonly state: "kept" | "taken_back" | "fresh";
  /** The first of them. */
  readonly files: readonly string[];
  /** Of a fresh folder: the attempts whose changes are not in it. */
  readonly attempts: readonly number[];
  /** For $DARUMA_PREVIOUS_PATCH, below the run's folder; null: there is none. */
  readonly patch: string | null;
  /** What the step that failed had left there, and what is not there any more. */
  readonly aside: { readonly step: string; readonly attempt: number; readonly patch: string } | null;
}

/** What failed attempts have left in a tree; of which they are, and the last one's patch. */
export interface LeftBehind {
  readonly attempts: readonly number[];
  readonly files: readonly string[];
  /** Null: it is too large to be kept. */
  readonly patch: string | null;
}
