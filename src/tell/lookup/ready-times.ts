import type { LoggedEvent } from "../../core/model/events.js";
import type { Store } from "../../store/store.js";

/** A job seldom waits for long: the first look back is short, each further one reaches ten times as far. */
const FIRST_LOOK = 200;
const LOOK_GROWTH = 10;
/** How many of a job's last attempts are looked at. */
const MAX_ATTEMPTS = 50;

/** When the job became ready for each attempt. The events that say so are about several jobs at a time. */
export async function readyTimes(
  store: Store,
  { id, run_id }: { readonly id: number; readonly run_id: number },
  log: readonly LoggedEvent[],
): Promise<ReadonlyMap<number, number>> {
  const starts = log.flatMap(({ seq, event }) =>
    event.type === "attempt.started" ? [{ seq, attempt: event.attempt }] : [],
  );
  const found = new Map<number, number>();
  for (let place = Math.max(0, starts.length - MAX_ATTEMPTS); place < starts.length; place += 1) {
    const { seq, attempt } = starts[place]!;
    const at = await lastReady(store, { runId: run_id, jobId: id, after: starts[place - 1]?.seq ?? 0, seq });
    if (at !== null) found.set(attempt, at);
  }
  return found;
}

interface ReadySearch {
  readonly runId: number;
  readonly jobId: number;
  /** The attempt before began here: what comes earlier was for that one. */
  readonly after: number;
  readonly seq: number;
}

async function lastReady(store: Store, { runId, jobId, after, seq }: ReadySearch): Promise<number | null> {
  for (let back = FIRST_LOOK; ; back *= LOOK_GROWTH) {
    const afterSeq = Math.max(after, seq - back);
    const log = await store.readEvents(runId, { afterSeq, limit: back, types: ["jobs.ready"] });
    const ready = log.findLast(
      (logged) => logged.seq < seq && logged.event.type === "jobs.ready" && logged.event.jobs.includes(jobId),
    );
    if (ready !== undefined) return ready.at;
    if (afterSeq === after) return null;
  }
}
