/** What is kept of runs that are over, and for how long. Null: nothing of the kind is removed. */
export interface RetentionSettings {
  /** The runs themselves, with all that belongs to them. */
  readonly runs: RetentionRule | null;
  /** Only what their attempts printed. */
  readonly logs: RetentionRule | null;
  /** Only their other files: large outputs, summaries, contexts, patches, workspaces, work folders. */
  readonly artifacts: RetentionRule | null;
}

export const FINAL_STATUSES = ["completed", "failed", "canceled"] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** Bounds; runs beyond any of them are removed, the oldest first. */
export interface RetentionRule {
  readonly olderThanMs: number | null;
  /** Runs to keep of each workflow. */
  readonly keepLast: number | null;
  readonly maxBytes: number | null;
  readonly status: readonly FinalStatus[];
}

export const NO_RETENTION: RetentionSettings = { runs: null, logs: null, artifacts: null };

export function keepsAll({ runs, logs, artifacts }: RetentionSettings): boolean {
  return runs === null && logs === null && artifacts === null;
}
