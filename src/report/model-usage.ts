import type { LoggedEvent, TokenUsage } from "../core/model/events.js";

/** What one attempt of a model step cost. */
export interface AttemptUsage extends TokenUsage {
  readonly job_id: number;
  readonly attempt: number;
}

export async function usagesOf(log: AsyncIterable<LoggedEvent>): Promise<AttemptUsage[]> {
  const usages: AttemptUsage[] = [];
  for await (const { event } of log)
    if (event.type === "attempt.succeeded" && event.usage !== undefined)
      usages.push({ job_id: event.job, attempt: event.attempt, ...event.usage });
  return usages;
}
