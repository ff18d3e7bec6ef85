/**
 * Finds the job of an event in the event's JSON, where only the type and numbers come before it. An invariant ensures
 * that for every log.
 */
export const EVENT_JOB_PATTERN = String.raw`^\{"type":"[^"]*"(?:,"[a-z]+":[0-9]+)*,"job":([0-9]{1,17})[,}]`;
