import type { RunRow } from "../core/model/rows.js";
import { noted, nullable, number, type OfFields, text } from "../core/text/shape.js";
import type { Store } from "../store/store.js";

/** A job that was to be undone, and the step that was to do it. */
export const UNDONE_JOB = {
  job_id: number,
  step: text,
  scope: text,
  by: noted(nullable(text), "The step that undoes it; null: its turn has not come."),
} as const;
export type UndoneJob = OfFields<typeof UNDONE_JOB>;

/** What a run that failed or was canceled has undone, and what it has left: not yet, not at all, or not completely. */
export interface Undone {
  readonly done: readonly UndoneJob[];
  readonly left: readonly UndoneJob[];
}

/** Null if nothing had to be undone. */
export async function readUndone(store: Store, { id, tally }: RunRow): Promise<Undone | null> {
  if (tally?.ending?.undone !== true) return null;
  const log = await store.readEvents(id, { types: ["undo.started", "undo.entered", "undo.left"] });
  const names = new Map((await store.readJobNames(id)).map((name) => [name.id, name]));
  const found = new Map<number, { by: string | null; undone: boolean }>();
  for (const { event } of log) {
    if (event.type === "undo.started")
      for (const job of event.jobs) found.set(job, { by: null, undone: false });
    else if (event.type === "undo.entered")
      found.set(event.of, { by: names.get(event.job)?.step ?? null, undone: false });
    else if (event.type === "undo.left") found.get(event.of)!.undone = event.undone;
  }
  const jobs = (undone: boolean) =>
    [...found].flatMap(([job_id, how]): UndoneJob[] => {
      const { step = "", scope = "root" } = names.get(job_id) ?? {};
      return how.undone === undone ? [{ job_id, step, scope, by: how.by }] : [];
    });
  return { done: jobs(true), left: jobs(false) };
}
