import { DECISION_FIELDS } from "../core/model/events.js";
import type { RunRow } from "../core/model/rows.js";
import { number, type OfFields, text } from "../core/text/shape.js";
import type { Store } from "../store/store.js";

/** A job to which a decision about its hold put an end. */
export const DECIDED_JOB = { job_id: number, step: text, scope: text, ...DECISION_FIELDS } as const;
export type DecidedJob = OfFields<typeof DECIDED_JOB>;

export async function decidedJobs(
  store: Store,
  { id: runId, tally }: Pick<RunRow, "id" | "tally">,
): Promise<DecidedJob[]> {
  if (tally?.decided === undefined) return [];
  const ended = await store.listJobs({ runId, status: ["skipped", "completed"] });
  return ended.flatMap(({ id, step, scope, decided }) =>
    decided === null ? [] : [{ job_id: id, step, scope, ...decided }],
  );
}
