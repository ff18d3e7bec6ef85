import type { Definition } from "../core/model/definition.js";
import type { Event, EventType, LoggedEvent } from "../core/model/events.js";
import { JOB_IDS_PER_RUN } from "../core/model/run.js";
import type { Store } from "../store/store.js";
import { EVENT_TYPES } from "./words/words.js";

/** All that most jobs have: they became ready, an attempt was made, and it completed, or an older run had done them. */
const UNEVENTFUL: ReadonlySet<EventType> = new Set([
  "attempt.started",
  "attempt.succeeded",
  "evaluation.requested",
  "evaluation.finished",
  "job.reused",
]);
const EVENTFUL: readonly EventType[] = EVENT_TYPES.filter((type) => !UNEVENTFUL.has(type));
/** Above this the whole log is read sooner than job by job. */
const MAX_JOBS = 1_000;

type EventfulLog = Pick<Store, "readEvents">;

/**
 * Reads the part of a run's log that its story needs. Attempts of jobs to which nothing else happened are left out,
 * which in a large run is nearly all of it. Jobs of interest have all their events. Null if too much happened, so that
 * reading the whole log is faster.
 */
export async function readEventfulLog(
  store: EventfulLog,
  runId: number,
  asked: readonly number[],
): Promise<LoggedEvent[] | null> {
  if (asked.length > MAX_JOBS) return null;
  const log = await store.readEvents(runId, { types: EVENTFUL });
  const jobs = new Set(asked);
  for (const { event } of log) {
    // Every job becomes ready.
    if (event.type !== "jobs.ready") for (const id of jobsIn(event, runId)) jobs.add(id);
    if (jobs.size > MAX_JOBS) return null;
  }
  const attempts = await Promise.all(
    [...jobs].map((job) => store.readEvents(runId, { job, types: [...UNEVENTFUL] })),
  );
  return [...log, ...attempts.flat()].sort((first, second) => first.seq - second.seq);
}

/** Attempts in a workspace tell something of each other. */
export function isToldInPart({ steps }: Definition): boolean {
  return !steps.some(({ usesWorkspace }) => usesWorkspace);
}

/** Whatever looks like the id of a job of this run: one too many does no harm. */
function* jobsIn(event: Event, runId: number): Iterable<number> {
  const first = runId * JOB_IDS_PER_RUN;
  const isJob = (value: unknown): value is number =>
    typeof value === "number" && value > first && value <= first + JOB_IDS_PER_RUN;
  for (const value of Object.values(event))
    if (Array.isArray(value)) yield* value.filter(isJob);
    else if (isJob(value)) yield value;
}
