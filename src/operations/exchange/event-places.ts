import { z } from "zod";
import type { Event, EventType, Output } from "../../core/model/events.js";
import { jobId, output, SHAPES } from "./event-shapes.js";

type ArtifactOutput = Extract<Output, { kind: "artifact" }>;
/** The way to a value from the event down; null: every entry of the list there. */
type Way = readonly (string | null)[];

export function isEventType(text: unknown): text is EventType {
  return typeof text === "string" && Object.hasOwn(SHAPES, text);
}

/** The same event with other job ids. The event itself stays as it is. */
export function withJobIds(event: Event, newId: (id: number) => number): Event {
  return changed(event, jobId, (id) => (typeof id === "number" ? newId(id) : id));
}

/** The same event with other places for the outputs that are kept as files. */
export function withOutputPaths(event: Event, newPath: (output: ArtifactOutput) => string): Event {
  return changed(event, output, (given) => {
    const found = given as Output | null;
    return found?.kind === "artifact" ? { ...found, path: newPath(found) } : found;
  });
}

function changed(event: Event, wanted: z.ZodType, change: (value: unknown) => unknown): Event {
  return waysIn(event.type, wanted).reduce<unknown>((at, way) => changedAt(at, way, change), event) as Event;
}

const known = new Map<z.ZodType, Map<EventType, readonly Way[]>>();

/** Wherever an event of this type has what that very schema describes. */
function waysIn(type: EventType, wanted: z.ZodType): readonly Way[] {
  const ofSchema = known.get(wanted) ?? new Map<EventType, readonly Way[]>();
  known.set(wanted, ofSchema);
  const ways = ofSchema.get(type) ?? [...findWays(z.looseObject(SHAPES[type]), wanted)];
  ofSchema.set(type, ways);
  return ways;
}

function* findWays(schema: z.core.$ZodType, wanted: z.ZodType): Generator<Way> {
  if (schema === wanted) yield [];
  else if (schema instanceof z.ZodOptional || schema instanceof z.ZodNullable)
    yield* findWays(schema.unwrap(), wanted);
  else if (schema instanceof z.ZodArray)
    for (const way of findWays(schema.element, wanted)) yield [null, ...way];
  else if (schema instanceof z.ZodObject)
    for (const [field, part] of Object.entries(schema.shape))
      for (const way of findWays(part, wanted)) yield [field, ...way];
}

/** A copy along the way; older logs lack some fields. */
function changedAt(at: unknown, [first, ...rest]: Way, change: (value: unknown) => unknown): unknown {
  if (first === undefined) return change(at);
  if (first === null) return Array.isArray(at) ? at.map((entry) => changedAt(entry, rest, change)) : at;
  if (at === null || typeof at !== "object" || !Object.hasOwn(at, first)) return at;
  return { ...at, [first]: changedAt((at as { [field: string]: unknown })[first], rest, change) };
}
