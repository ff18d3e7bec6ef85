import { EVENTS, type Event, type EventType, type Output } from "../../core/model/events.js";
import type { Fields, Shape } from "../../core/text/shape.js";

type ArtifactOutput = Extract<Output, { kind: "artifact" }>;
/** The way to a value from the event down; null: every entry of the list there. */
type Way = readonly (string | null)[];

export function isEventType(text: unknown): text is EventType {
  return typeof text === "string" && Object.hasOwn(EVENTS, text);
}

/** A copy of the event with other job ids. */
export function withJobIds(event: Event, newId: (id: number) => number): Event {
  return changed(event, isJobId, (id) => (typeof id === "number" ? newId(id) : id));
}

/** A copy of the event with other paths for outputs that are kept as files. */
export function withOutputPaths(event: Event, newPath: (output: ArtifactOutput) => string): Event {
  return changed(event, isOutput, (given) => {
    const found = given as Output | null;
    return found?.kind === "artifact" ? { ...found, path: newPath(found) } : found;
  });
}

type Wanted = (shape: Shape) => boolean;
const isJobId: Wanted = ({ names }) => names === "job";
const isOutput: Wanted = ({ names }) => names === "output";

function changed(event: Event, wanted: Wanted, change: (value: unknown) => unknown): Event {
  return waysIn(event.type, wanted).reduce<unknown>((at, way) => changedAt(at, way, change), event) as Event;
}

const known = new Map<Wanted, Map<EventType, readonly Way[]>>();

/** Wherever an event of this type has such a thing. */
function waysIn(type: EventType, wanted: Wanted): readonly Way[] {
  const ofWanted = known.get(wanted) ?? new Map<EventType, readonly Way[]>();
  known.set(wanted, ofWanted);
  const ways = ofWanted.get(type) ?? [...waysOf(EVENTS[type], wanted, 0)];
  ofWanted.set(type, ways);
  return ways;
}

/** A failure's cause has none of its own. */
const MOST_CAUSES = 1;

function* findWays(shape: Shape, wanted: Wanted, causes: number): Generator<Way> {
  if (wanted(shape)) yield [];
  else if (shape.kind === "nullable") yield* findWays(shape.of, wanted, causes);
  else if (shape.kind === "lazy" && causes < MOST_CAUSES) yield* findWays(shape.of(), wanted, causes + 1);
  else if (shape.kind === "list") for (const way of findWays(shape.of, wanted, causes)) yield [null, ...way];
  else if (shape.kind === "object") yield* waysOf(shape.fields, wanted, causes);
}

function* waysOf(fields: Fields, wanted: Wanted, causes: number): Generator<Way> {
  for (const [name, field] of Object.entries(fields))
    for (const way of findWays("optional" in field ? field.optional : field, wanted, causes))
      yield [name, ...way];
}

/** A copy along the way; optional fields may be missing. */
function changedAt(at: unknown, [first, ...rest]: Way, change: (value: unknown) => unknown): unknown {
  if (first === undefined) return change(at);
  if (first === null) return Array.isArray(at) ? at.map((entry) => changedAt(entry, rest, change)) : at;
  if (at === null || typeof at !== "object" || !Object.hasOwn(at, first)) return at;
  return { ...at, [first]: changedAt((at as { [field: string]: unknown })[first], rest, change) };
}
