/** How long data of finished runs is kept. Null means that nothing of the kind is removed. */
export interface RetentionSettings {
  /** Runs as a whole, with everything that belongs to them. */
  readonly runs: RetentionRule | null;
  /** Only the output that attempts printed. */
  readonly logs: RetentionRule | null;
  /** Only the other files: large outputs, summaries, contexts, patches, workspaces, work folders. */
  readonly artifacts: RetentionRule | null;
}

export const FINAL_STATUSES = ["completed", "failed", "canceled"] as const;
export type FinalStatus = (typeof FINAL_STATUSES)[number];

/** Limits for finished runs. Runs beyond any of them are removed, the oldest first. */
export interface RetentionRule {
  readonly olderThanMs: number | null;
  /** How many runs of each workflow are kept. */
  readonly keepLast: number | null;
  readonly maxBytes: number | null;
  readonly status: readonly FinalStatus[];
}

export const NO_RETENTION: RetentionSettings = { runs: null, logs: null, artifacts: null };

export function keepsAll({ runs, logs, artifacts }: RetentionSettings): boolean {
  return runs === null && logs === null && artifacts === null;
}
