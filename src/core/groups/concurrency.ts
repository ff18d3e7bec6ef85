import { count, type Of, object, text, word } from "../text/shape.js";

export const CONCURRENCY_POLICIES = ["queue", "cancel_running", "reject"] as const;
export type ConcurrencyPolicy = (typeof CONCURRENCY_POLICIES)[number];

/** The group of a run, and under what conditions the run has a place in it. */
export const RUN_CONCURRENCY = object({
  group: text,
  /** How many runs of the group may be in progress at a time. */
  limit: count,
  policy: word<ConcurrencyPolicy>(),
});
export type RunConcurrency = Of<typeof RUN_CONCURRENCY>;

export const MAX_GROUP_CHARS = 200;
export const DEFAULT_PRIORITY = 0;
/** Far more than anybody tells apart. */
export const MAX_PRIORITY = 1_000;
