import type { RunConcurrency } from "../core/groups/concurrency.js";
import type { RunRow, RunStatus } from "../core/model/rows.js";
import type { LeaseOwner } from "./store.js";

/** A run of a concurrency group that is not over. */
export interface GroupMember {
  readonly runId: number;
  readonly workflow: string;
  readonly concurrency: RunConcurrency;
  readonly priority: number;
  readonly status: RunStatus;
  readonly managed: boolean;
  /** Which of all the places that its group has ever given; null: it has none. */
  readonly place: number | null;
  /** Who holds its lease, if that has not run out. */
  readonly owner: LeaseOwner | null;
}

export interface PlaceRequest {
  readonly runId: number;
  /** The token under which the run is held. */
  readonly fence: number;
  readonly now: number;
  /** Their processes are gone for good: what they hold waits for nothing. */
  readonly deadOwners?: readonly LeaseOwner[];
}

/**
 * The places of concurrency groups. A run that has begun and is not over has one, whoever made it: a commit by which a run
 * begins without, or is reopened, takes a free one or fails with GROUP_BUSY. The end of a run frees its place.
 */
export interface PlaceStore {
  /** Runs of these groups that are not over, by id; null: of all groups in which one has not begun. */
  readGroups(groups: readonly string[] | null, now: number): Promise<GroupMember[]>;
  /**
   * Take a place for a run that has not begun, if it is the run's turn. True: the run has one, perhaps since before.
   * Servers take places for their runs with `claimRuns`.
   */
  takePlace(request: PlaceRequest): Promise<boolean>;
}

/** Whether a change of this row may let a run begin that waited for a place, or is of one that waits. */
export function changesQueue({ concurrency, started_at, finished_at }: RunRow): boolean {
  return concurrency !== null && (finished_at !== null || started_at === null);
}
