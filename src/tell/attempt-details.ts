import { noteFailure } from "../core/failure/no-progress.js";
import type {
  FailureRoute,
  HandlerOutcome,
  LoggedEvent,
  RungConsidered,
  RungName,
  TokenUsage,
} from "../core/model/events.js";
import { type HealState, NEW_HEAL_STATE } from "../core/model/heal-state.js";
import type { JobRow } from "../core/model/rows.js";
import { blank, flag, noted, nullable, number, type OfFields } from "../core/text/shape.js";

/** What the ladder made of one failed attempt. */
interface AttemptDiagnostics {
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

/** What attempts of a job left in the workspace, as names of artifacts; the newest patch of each. */
export function patchByAttempt(log: readonly LoggedEvent[], jobId: number): ReadonlyMap<number, string> {
  const found = new Map<number, string>();
  for (const { event } of log) {
    if (event.type === "attempt.succeeded" && event.job === jobId && event.checkpoint !== null)
      found.set(event.attempt, event.checkpoint.patch);
    if (event.type === "attempt.failed" && event.job === jobId && event.patch != null)
      found.set(event.attempt, event.patch);
    if (event.type === "set_aside.finished" && event.job === jobId && event.patch !== null)
      found.set(event.attempt, event.patch);
    if (event.type === "rebuild.finished" && event.partial?.job === jobId)
      found.set(event.partial.attempt, event.partial.patch);
  }
  return found;
}

/** Whether a failed attempt came further than the one before it. */
export const PROGRESS = {
  streak: noted(
    number,
    "Failures in a row, this one included, that say the same and leave the same changes.",
  ),
  round: noted(number, "The visit, or the round of the queue, in which they are counted; from 1."),
  reached: noted(flag, "It has reached step_no_progress_limit, or two failures take turns."),
  oscillation: noted(flag, "Two failures take turns."),
} as const;
type ShownProgress = OfFields<typeof PROGRESS>;

/** The progress of failed attempts, by attempt, from the log of one job. */
export function progressByAttempt(log: readonly LoggedEvent[]): ReadonlyMap<number, ShownProgress> {
  const found = new Map<number, ShownProgress>();
  let heal: HealState = NEW_HEAL_STATE;
  let visit = 1;
  let round = 1;
  const beginRound = (): void => {
    heal = NEW_HEAL_STATE;
    round += 1;
  };
  for (const { event } of log) {
    if (event.type === "attempt.started" && event.visit !== visit) {
      if (found.size > 0) beginRound();
      visit = event.visit;
    }
    if (event.type === "requeue.scheduled") beginRound();
    if (event.type !== "attempt.failed") continue;
    // While a breaker is open, a failure says nothing about progress.
    if (event.breakers === undefined) heal = noteFailure(heal, event.error, event.no_progress ?? null);
    const { streak } = heal;
    const { no_progress: noProgress } = event;
    found.set(event.attempt, {
      streak,
      round,
      reached: (noProgress ?? null) !== null,
      oscillation: noProgress?.oscillation ?? false,
    });
  }
  return found;
}

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

/** What the processes of one attempt used; null where nobody could tell. */
export const SHOWN_USAGE = {
  peak_memory_bytes: noted(
    nullable(number),
    "The most memory that one process of the attempt had, or all together if the step has a memory limit and that was more. Null: not known.",
  ),
  cpu_ms: noted(nullable(number), "CPU time of all processes of the attempt. Null: not known."),
  read_bytes: noted(nullable(number), "Read from disks. Null: not known."),
  written_bytes: noted(nullable(number), "Written to disks. Null: not known."),
} as const;
export type ShownUsage = OfFields<typeof SHOWN_USAGE>;

export const UNKNOWN_USAGE: ShownUsage = blank(SHOWN_USAGE);

/** The resource use by attempt, from the log of one job. */
export function processUsagesOf(log: readonly LoggedEvent[]): ReadonlyMap<number, ShownUsage> {
  const usages = new Map<number, ShownUsage>();
  for (const { event } of log) {
    if (!("attempt" in event) || !("cpu_ms" in event)) continue;
    const {
      attempt,
      peak_memory_bytes: peakMemoryBytes = null,
      cpu_ms: cpuMs = null,
      read_bytes: readBytes = null,
      written_bytes: writtenBytes = null,
    } = event;
    const io = { read_bytes: readBytes, written_bytes: writtenBytes };
    usages.set(attempt, { peak_memory_bytes: peakMemoryBytes, cpu_ms: cpuMs, ...io });
  }
  return usages;
}
