import type { z } from "zod";
import { EVENTS, type Event, type EventType } from "../../core/model/events.js";
import { objectOf } from "../../run/worker/zod-of.js";

const schemas = new Map<EventType, z.ZodType>();

/** The path and problem of a field that does not match the event's type. Null if all fields do. */
export function wrongFieldOf(
  event: Event,
): { readonly path: readonly string[]; readonly message: string } | null {
  const schema = schemas.get(event.type) ?? objectOf(EVENTS[event.type], { others: "kept" });
  schemas.set(event.type, schema);
  const { error } = schema.safeParse(event);
  if (error === undefined) return null;
  const { path, message } = error.issues[0]!;
  return { path: path.map(String), message };
}
