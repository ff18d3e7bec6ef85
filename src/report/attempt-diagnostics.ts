import type { FailureRoute, LoggedEvent, RecoveryOutcome, RungName } from "../core/model/events.js";
import type { JobRow } from "../core/model/rows.js";

/** What the ladder made of one failed attempt. */
export interface AttemptDiagnostics {
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly rung: RungName;
  /** What the failure handlers had to say; null where they were not asked. */
  readonly recovery: RecoveryOutcome | null;
  /** Null: something gentler than a transition answered the failure. */
  readonly failureRoute: FailureRoute | null;
}

export async function diagnosticsOf(
  jobs: readonly Pick<JobRow, "id" | "step" | "scope">[],
  log: AsyncIterable<LoggedEvent>,
): Promise<AttemptDiagnostics[]> {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  const found: AttemptDiagnostics[] = [];
  for await (const { event } of log) {
    if (event.type !== "ladder.climbed") continue;
    const { step, scope } = byId.get(event.job)!;
    const { job, attempt, rung, recovery, failureRoute } = event;
    found.push({ job_id: job, step, scope, attempt, rung, recovery, failureRoute });
  }
  return found;
}
