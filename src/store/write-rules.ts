import { DarumaError } from "../core/errors/errors.js";
import type { RunStatus } from "../core/model/rows.js";
import type { Append, NewWorkflow } from "./store.js";

/**
 * The position of a run in the store: the token of its present lease (null if nobody holds it), and the end of its log.
 */
export interface RunPosition {
  readonly fence: number | null;
  readonly lastSeq: number;
}

/** The fencing rule, the same in every store: the current token, and no gap or overlap in the log. */
export function refuseStaleAppend(
  append: { readonly runId: number; readonly fence: number; readonly firstSeq: number },
  position: RunPosition,
): void {
  if (position.fence !== append.fence) {
    const held = position.fence === null ? "nobody holds it" : `token ${position.fence} holds it`;
    throw new DarumaError(
      "LEASE_LOST",
      `run ${append.runId} was written with token ${append.fence}, but ${held} now`,
    );
  }
  if (position.lastSeq !== append.firstSeq - 1) {
    throw new DarumaError(
      "LEASE_LOST",
      `run ${append.runId}: an append starts at event ${append.firstSeq}, but its log ends at ${position.lastSeq}`,
    );
  }
}

/** Refuses a second run for the same cause. `holder` is the run that has it. */
export function refuseTakenCause(runId: number, cause: string, holder: number): void {
  if (holder !== runId) throw new DarumaError("CAUSE_TAKEN", `run ${holder} already has the cause ${cause}`);
}

/** Refuses an append that is wrong for any store. This is a defect of the caller, so nothing is written. */
export function refuseMalformedAppend(append: Append): void {
  const { runId } = append;
  if (append.firstSeq === 1 && append.run === null) {
    throw new DarumaError("STORE_FAILED", `the first append of run ${runId} has no run row`);
  }
  const strangers =
    (append.run !== null && append.run.id !== runId) ||
    append.jobs.some((job) => job.run_id !== runId) ||
    append.attempts.some((attempt) => attempt.run_id !== runId) ||
    append.routes.some((route) => route.run_id !== runId) ||
    append.checkpoints?.some((checkpoint) => checkpoint.run_id !== runId) === true ||
    append.book?.some((row) => row.run_id !== runId) === true ||
    append.outbox?.some((notice) => notice.run_id !== runId) === true;
  if (strangers) throw new DarumaError("STORE_FAILED", `an append of run ${runId} has rows of another run`);
}

export const UNFINISHED_RUN_STATUSES: readonly RunStatus[] = ["pending", "running", "paused", "held"];

/**
 * Whether a run may be deleted. A store has no clock, so a lease that was not released counts as held, however old it
 * is.
 */
export function mayDeleteRun(run: { readonly status: RunStatus; readonly isLeaseHeld: boolean }): boolean {
  return !UNFINISHED_RUN_STATUSES.includes(run.status) && !run.isLeaseHeld;
}

/** Refuses two handlers of the same name in a workflow: they are found by name, so this is a defect of the caller. */
export function refuseMalformedWorkflow({ name: workflow, failureHandlers }: NewWorkflow): void {
  const names = new Set<string>();
  for (const { name } of failureHandlers) {
    if (names.has(name)) {
      throw new DarumaError("STORE_FAILED", `workflow ${workflow} has two failure handlers named ${name}`);
    }
    names.add(name);
  }
}
