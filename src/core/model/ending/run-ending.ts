import type { Job, Run } from "../run.js";

/** A job whose success is to be taken back. */
export interface UndoItem {
  readonly job: Job;
  /** How often it has completed in this run: so many of its last outputs are its own. */
  readonly completions: number;
  /** Null if its turn has not come. */
  undone: boolean | null;
}

/** A run that is about to end: what it has done is undone, then its `finally` steps run. It stays when the run is over. */
export interface RunEnding {
  readonly status: "completed" | "failed" | "canceled";
  /** What the run failed of, or why it was canceled; null: it completed. */
  readonly error: RunEnd["error"];
  /** Newest completion first; null: nothing is undone. */
  items: readonly UndoItem[] | null;
  /** The first of the items whose turn has not come. */
  next: number;
  /** The job that has its turn; `item`: what it undoes, null for a `finally` step. */
  turn: { readonly job: Job; readonly item: UndoItem | null } | null;
  /** The `finally` jobs that have had their turn, the present one included. */
  finally: readonly Job[];
}

/** How a run ends, for its undo and finally steps. */
export interface RunEnd {
  readonly status: "completed" | "failed" | "canceled";
  readonly error: { readonly code: string; readonly message: string } | null;
}

/** The job's own success, in the order of completions. */
export function noteCompletion(run: Run, job: Job): void {
  if (job.step.definition.undo === undefined) return;
  const completions = run.undoable.get(job) ?? 0;
  run.undoable.delete(job);
  run.undoable.set(job, completions + 1);
}

/** The undo or finally job that the run is waiting for. */
export function hasTurnAtEnd({ ending, finishedAt }: Run, job: Job): boolean {
  return finishedAt === null && ending?.turn?.job === job;
}

/** What the job undoes in its present visit. */
export function undoneBy({ ending }: Run, job: Job): UndoItem | null {
  return ending?.turn?.job === job ? ending.turn.item : null;
}

/** The jobs whose success was taken back. */
export function undoneJobs({ ending }: Run): Job[] {
  return (ending?.items ?? []).flatMap(({ job, undone }) => (undone === true ? [job] : []));
}

/** Something of the run has been undone, or was to be. */
export function isUndone({ ending }: Run): boolean {
  return ending !== null && ending.items !== null;
}

export type EndPhase = "undo" | "finally";

/** What a run that is about to end is at; null: it is not, or is over. */
export function phaseOf({ ending, finishedAt }: Run): EndPhase | null {
  if (ending === null || finishedAt !== null) return null;
  return ending.items !== null && ending.next < ending.items.length ? "undo" : "finally";
}
