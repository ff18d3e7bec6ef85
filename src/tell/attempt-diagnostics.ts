import type {
  FailureRoute,
  HandlerOutcome,
  LoggedEvent,
  RungConsidered,
  RungName,
} from "../core/model/events.js";
import type { JobRow } from "../core/model/rows.js";

/** What the ladder made of one failed attempt. */
export interface AttemptDiagnostics {
  readonly job_id: number;
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly rung: RungName;
  /** Every rung that was looked at, lowest first, the one that acted last. */
  readonly considered: readonly RungConsidered[];
  /** What the failure handlers had to say; null where they were not asked. */
  readonly recovery: HandlerOutcome | null;
  /** Null if a gentler rung than a transition answered the failure. */
  readonly failure_route: FailureRoute | null;
}

/** The diagnostics of these jobs. */
export function diagnosticsOf(
  jobs: readonly Pick<JobRow, "id" | "step" | "scope">[],
  log: readonly LoggedEvent[],
): AttemptDiagnostics[] {
  const byId = new Map(jobs.map((job) => [job.id, job]));
  return log.flatMap(({ event }) => {
    const job = event.type === "ladder.climbed" ? byId.get(event.job) : undefined;
    if (event.type !== "ladder.climbed" || job === undefined) return [];
    const { attempt, rung, considered, recovery, failure_route } = event;
    const { id: job_id, step, scope } = job;
    return [{ job_id, step, scope, attempt, rung, considered, recovery, failure_route }];
  });
}
