/**
 * Finds the job that an event is about in the JSON of the event: before it stand the event's type and numbers, nothing
 * else. An invariant holds every log to that.
 */
export const EVENT_JOB_PATTERN = String.raw`^\{"type":"[^"]*"(?:,"[a-z]+":[0-9]+)*,"job":([0-9]{1,17})[,}]`;
