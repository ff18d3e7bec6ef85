import type { Event } from "../core/model/events.js";
import type { JobRow, RunRow } from "../core/model/rows.js";
import { iso } from "../core/text/iso-time.js";
import type { Store } from "../store/store.js";
import { type JobRecord, jobRecord } from "./job-record.js";
import { isImported } from "./lookup/own-runs.js";
import { readLog } from "./lookup/replayed-log.js";

/** A job, since when it is what it is, and what the log says of that. */
export type MarkedJob<Mark> = JobRecord & { readonly since: string } & Mark;

/**
 * The jobs that wait for somebody. `markOf` reads an event of a job and returns the mark that it sets, null if it
 * removes the mark, or undefined if it does not affect it. The last one counts. An imported run waits for nobody.
 */
export async function markedJobs<Mark extends object>(
  store: Store,
  run: RunRow,
  jobs: readonly JobRow[],
  markOf: (event: Event & { readonly job: number }) => Mark | null | undefined,
): Promise<MarkedJob<Mark>[]> {
  if (jobs.length === 0 || isImported(run)) return [];
  const ids = new Set(jobs.map(({ id }) => id));
  const marks = new Map<number, Mark & { readonly since: string }>();
  for await (const { at, event } of readLog(store, run.id)) {
    if (!isOfOneOf(ids, event)) continue;
    const mark = markOf(event);
    if (mark === null) marks.delete(event.job);
    else if (mark !== undefined) marks.set(event.job, { ...mark, since: iso(at) });
  }
  return jobs.flatMap((job) => {
    const mark = marks.get(job.id);
    return mark === undefined ? [] : [{ ...jobRecord(run, job), ...mark }];
  });
}

function isOfOneOf(ids: ReadonlySet<number>, event: Event): event is Event & { readonly job: number } {
  return "job" in event && typeof event.job === "number" && ids.has(event.job);
}
