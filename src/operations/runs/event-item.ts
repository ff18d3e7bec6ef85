import { type SelfHealRecord, selfHealRecord } from "../../core/failure/self-heal-record.js";
import type { Definition } from "../../core/model/definition.js";
import type { Event, EventType, LoggedEvent } from "../../core/model/events.js";
import { readDefinition } from "../../run/engine/load-run.js";
import type { Store } from "../../store/store.js";
import { type EventNames, namesIn } from "../../tell/lookup/event-names.js";
import { ReplayedRun } from "../../tell/lookup/replayed-log.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import { iso } from "../../tell/run-report.js";

/** An event as it is printed: `{seq, at, type, ...}`, with the step and scope of the job that it is about. */
export interface EventItem extends EventNames {
  readonly seq: number;
  readonly at: string;
  readonly type: EventType;
  readonly [field: string]: unknown;
}

/** An event with its type, for programs: `type` determines which other fields exist. docs/events.md lists them. */
export type RunEvent = Event &
  EventNames & {
    readonly run_id: number;
    readonly workflow: string;
    readonly seq: number;
    readonly at: string;
  };

export function eventItem({ seq, at, event }: LoggedEvent, names: EventNames): EventItem {
  return { seq, at: isoAgain(at), ...names, ...publicEvent(event) };
}

/** An event under the name that design 004 has for it, with the payload that it requires. */
interface DesignEvent extends SelfHealRecord, EventNames {
  readonly seq: number;
  readonly at: string;
}

/** An event of any run. */
export type RunDesignEvent = DesignEvent & { readonly run_id: number; readonly workflow: string };

export function designEvent(
  { seq, at }: Pick<LoggedEvent, "seq" | "at">,
  record: SelfHealRecord,
  names: EventNames,
): DesignEvent {
  return { seq, at: isoAgain(at), ...names, ...record };
}

let last = { at: 0, text: iso(0) };

/** Many events of a log have the same time. */
function isoAgain(at: number): string {
  if (last.at !== at) last = { at, text: iso(at) };
  return last.text;
}

/** The token of an attempt marks its processes; who knows it could pass for one of them. */
function publicEvent(event: LoggedEvent["event"]): LoggedEvent["event"] {
  return "token" in event ? { ...event, token: "" } : event;
}

/** The event that an item stands for. */
export function loggedEvent({ seq, at, ...event }: EventItem): LoggedEvent {
  return { seq, at: Date.parse(at), event: event as unknown as Event };
}

export type RunEventItem = EventItem & { readonly run_id: number; readonly workflow: string };

/** Under whose names events can be asked for beside ours. */
export const NAMINGS = ["design-004"] as const;
export type Naming = (typeof NAMINGS)[number];

/**
 * A log under the names of design 004. Its payload says of a step what only the run knows, so the log is heard from its
 * beginning, whatever is asked for.
 */
export class DesignReader {
  private constructor(private readonly replay: ReplayedRun) {}

  static async of(store: Store, runId: number): Promise<DesignReader> {
    const { definition_hash: hash } = await requireRun(store, runId);
    const definition: Definition = await readDefinition(store, runId, hash);
    return new DesignReader(new ReplayedRun(runId, () => definition));
  }

  /** Converts an event; null if the design has no name for it. */
  hear(logged: LoggedEvent): EventItem | null {
    const run = this.replay.fold(logged);
    const record = selfHealRecord(run, logged.event);
    if (record === null) return null;
    const told: DesignEvent = designEvent(logged, record, namesIn(run, logged.event));
    return told as unknown as EventItem;
  }
}
