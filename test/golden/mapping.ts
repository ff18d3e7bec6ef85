import type { Event } from "../../src/core/model/events.js";

/** What lies below these was in snake_case when the files were recorded, or is the user's own. */
const AS_IT_IS = new Set(["error", "usage", "inputs", "context", "value", "items", "user_data"]);

/**
 * The one place that may reconcile an event of today with its recorded form, in at most 30 lines: a change of form alone
 * (say, of the names of keys) maps it back here. The next change records anew and leaves the identity behind.
 * Recorded were events whose keys were in camelCase, and failures whose messages were not kept apart.
 */
export function asRecorded(event: Event): object {
  if (!("error" in event)) return inCamelCase(event) as object;
  const { how: _how, said: _said, ...error } = event.error;
  return inCamelCase({ ...event, error }) as object;
}

function inCamelCase(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(inCamelCase);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key.replaceAll(/_([a-z])/g, (_, letter: string) => letter.toUpperCase()),
      AS_IT_IS.has(key) ? inner : inCamelCase(inner),
    ]),
  );
}
