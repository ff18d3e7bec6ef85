import type { Event, EventType, LoggedEvent } from "../../core/model/events.js";
import { changesOf } from "../../report/lookup/changes.js";
import { type EventNames, JobNames } from "../../report/lookup/event-names.js";
import { readLog } from "../../report/lookup/replayed-log.js";
import { iso } from "../../report/run-report.js";
import type { Store } from "../../store/store.js";
import type { StreamItem } from "../operation.js";

/** An event as it is printed: `{seq, at, type, ...}`, with the step and scope of the job that it is about. */
export interface EventItem extends EventNames {
  readonly seq: number;
  readonly at: string;
  readonly type: EventType;
  readonly [field: string]: unknown;
}

/** The same with its type, for programs: `type` tells which other fields there are. docs/events.md has them all. */
export type RunEvent = Event &
  EventNames & {
    readonly run_id: number;
    readonly workflow: string;
    readonly seq: number;
    readonly at: string;
  };

const LAST_EVENTS: ReadonlySet<EventType> = new Set(["run.completed", "run.failed", "run.canceled"]);

export function eventItem({ seq, at, event }: LoggedEvent, names: EventNames): EventItem {
  return { seq, at: iso(at), ...names, ...publicEvent(event) };
}

/** The token of an attempt marks its processes; who knows it could pass for one of them. */
function publicEvent(event: LoggedEvent["event"]): LoggedEvent["event"] {
  return "token" in event ? { ...event, token: "" } : event;
}

/** The event that an item stands for. */
export function loggedEvent({ seq, at, ...event }: EventItem): LoggedEvent {
  return { seq, at: Date.parse(at), event: event as unknown as LoggedEvent["event"] };
}

export async function listRunEvents(
  store: Store,
  runId: number,
  { after, limit }: { after: number; limit: number },
) {
  const events = await store.readEvents(runId, { afterSeq: after, limit });
  const names = new JobNames(store);
  const items: EventItem[] = [];
  for (const logged of events) items.push(eventItem(logged, await names.of(runId, logged.event)));
  return {
    run_id: runId,
    items,
    next: events.length < limit ? null : events.at(-1)!.seq,
  };
}

/** Everything that is in the log, and what comes, until the run is over. */
export async function* followRunEvents(
  store: Store,
  runId: number,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<StreamItem> {
  const changes = changesOf(store);
  const names = new JobNames(store);
  try {
    for (let last = after; !signal.aborted; ) {
      let isOver = false;
      for await (const logged of readLog(store, runId, last)) {
        const data = eventItem(logged, await names.of(runId, logged.event));
        yield { id: String(logged.seq), event: logged.event.type, data };
        if (signal.aborted) return;
        last = logged.seq;
        isOver = LAST_EVENTS.has(logged.event.type);
      }
      // Where nothing was new, the run may have been over before this reader came.
      if (isOver || (await isOverAt(store, runId, last))) return;
      await changes.next({ runId, signal });
    }
  } finally {
    changes.stop();
  }
}

async function isOverAt(store: Store, runId: number, seq: number): Promise<boolean> {
  const run = await store.readRun(runId);
  if (run === null) return true;
  return (
    run.finished_at !== null && (await store.readEvents(runId, { afterSeq: seq, limit: 1 })).length === 0
  );
}
