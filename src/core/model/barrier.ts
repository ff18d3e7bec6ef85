import type { Failure } from "./failure.js";
import type { FilesPolicy } from "./files-policy.js";
import type { Hint, LedBy } from "./led-by.js";
import type { Job } from "./run.js";

/** A goto under way: nothing in it starts; when the last running attempt has ended, all of it is invalidated. */
export interface Barrier {
  readonly id: number;
  readonly targets: Map<Job, BarrierTarget>;
  readonly members: Set<Job>;
  readonly endingAttempts: Set<Job>;
  files: FilesPolicy;
  /** The workspace that is being built as it was before the targets, and what came of it. */
  rebuild: number | null;
  restored: { readonly ok: boolean; readonly message: string; readonly previous?: string } | null;
}

/** Where a barrier restarts. */
export interface BarrierTarget {
  /** Whatever becomes of what it depends on. */
  readonly forced: boolean;
  readonly ledBy: LedBy | null;
  /** A failure has sent the run back here: the tree is for the target until it begins. */
  readonly byFailure: boolean;
  /** An operator has asked for it, so that its new visit stands for the old one. */
  readonly byOperator: boolean;
  readonly ownFailure: Failure | null;
  readonly hint: Hint | null;
}

/** The step for which the tree is kept free, from the barrier to its start; null: no failure has opened the barrier. */
export function sentBackTo({ targets }: Barrier): Job | null {
  for (const [job, { byFailure }] of targets) if (byFailure) return job;
  return null;
}
