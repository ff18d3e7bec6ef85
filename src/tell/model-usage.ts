import type { LoggedEvent, TokenUsage } from "../core/model/events.js";

/** What one attempt of a model step cost. */
export interface AttemptUsage extends TokenUsage {
  readonly job_id: number;
  readonly attempt: number;
}

export function usagesOf(log: readonly LoggedEvent[]): AttemptUsage[] {
  return log.flatMap(({ event }) =>
    event.type === "attempt.succeeded" && event.usage !== undefined
      ? [{ job_id: event.job, attempt: event.attempt, ...event.usage }]
      : [],
  );
}
