/** What of the run's time limits is used. */
export interface TimeUsed {
  readonly usedMs: number;
  readonly warned: boolean;
  /** Null: its time does not count now. */
  readonly counting: {
    readonly since: number;
    readonly deadlineAt: number | null;
    readonly warnAt: number | null;
  } | null;
}

export const NO_TIME_USED: TimeUsed = { usedMs: 0, warned: false, counting: null };
