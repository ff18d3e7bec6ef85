import type { RunConcurrency } from "../core/groups/concurrency.js";
import type { RunRow, RunStatus } from "../core/model/rows.js";
import type { LeaseOwner } from "./store.js";

/** An unfinished run of a concurrency group. */
export interface GroupMember {
  readonly runId: number;
  readonly workflow: string;
  readonly concurrency: RunConcurrency;
  readonly priority: number;
  readonly status: RunStatus;
  readonly managed: boolean;
  /** The number of its place among all that the group has ever given; null if it has none. */
  readonly place: number | null;
  /** The holder of its lease, unless that has expired. */
  readonly owner: LeaseOwner | null;
}

export interface PlaceRequest {
  readonly runId: number;
  /** The token of the run's lease. */
  readonly fence: number;
  readonly now: number;
  /** Owners whose processes are gone for good. Their runs need not be waited for. */
  readonly deadOwners?: readonly LeaseOwner[];
}

/**
 * Places of concurrency groups. Every started, unfinished run has one, in whichever process: a commit that starts a run
 * without a place, or reopens it, takes a free one or fails with GROUP_BUSY. The end of a run frees its place.
 */
export interface PlaceStore {
  /** Unfinished runs of these groups, by id. Null for all groups with a run that has not begun. */
  readGroups(groups: readonly string[] | null, now: number): Promise<GroupMember[]>;
  /**
   * Takes a place for a run that has not begun, if it is the run's turn. Returns true if the run now has one, or had
   * one before. Servers take places for their runs with `claimRuns`.
   */
  takePlace(request: PlaceRequest): Promise<boolean>;
}

/** Whether a change of this row can affect the queue: it may let a waiting run begin, or the run itself waits. */
export function changesQueue({ concurrency, started_at, finished_at }: RunRow): boolean {
  return concurrency !== null && (finished_at !== null || started_at === null);
}
