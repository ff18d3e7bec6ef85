import type { OperatorCommand } from "../model/commands.js";
import { attemptAt, JOB_STATUSES, type RunStatus } from "../model/rows.js";
import { jobById, type Run } from "../model/run.js";
import { nullable, number, type OfFields, text, word } from "../text/shape.js";
import { type GoesBack, goingBack } from "./going-back.js";
import { asDone, refusalOf } from "./refusals/operator-refusals.js";
import type { Refusal } from "./refusals/refusal.js";

export const JOB_CHANGE = {
  job_id: number,
  step: text,
  scope: text,
  /** Null if the job did not exist. */
  from: nullable(word(JOB_STATUSES)),
  to: word(JOB_STATUSES),
  /** The attempt that it is at, for one that is ready the next. */
  attempt_id: number,
} as const;
export type JobChange = OfFields<typeof JOB_CHANGE>;

/** What an operator's command did to its run, and nothing that happened besides. */
export interface CommandOutcome {
  /** What was done: a forced retry of a completed step is `step.resume_from`. */
  readonly done: OperatorCommand["type"];
  readonly before: RunStatus;
  readonly status: RunStatus;
  readonly changed: readonly JobChange[];
  /** What a way back to a step comes to, beyond what has changed at once; null: it is none. */
  readonly goes_back: GoesBack | null;
}

/** What became of an operator's command. Neither: its key was taken before, and it did nothing now. */
export interface TakenCommand {
  readonly refusal: Refusal | null;
  readonly outcome: CommandOutcome | null;
}

/** Put a command to a run: `decide` is called where it applies. */
export function takeCommand(run: Run, command: OperatorCommand, decide: () => void): TakenCommand {
  if (command.key !== null && run.operatorKeys.has(command.key)) return { refusal: null, outcome: null };
  const refusal = refusalOf(run, command);
  if (refusal !== null) return { refusal, outcome: null };
  const asked = asDone(run, command);
  const done = asked.type;
  const back = asked.type === "step.resume_from" ? goingBack(run, jobById(run, asked.job)) : null;
  const before = run.status;
  const statuses = new Map(run.jobs.map((job) => [job, job.status]));
  decide();
  const changed = run.jobs
    .filter((job) => statuses.get(job) !== job.status)
    .map((job) => ({
      job_id: job.id,
      step: job.step.definition.id,
      scope: job.scope.id,
      from: statuses.get(job) ?? null,
      to: job.status,
      attempt_id: attemptAt(job.status, job.attempt),
    }));
  return {
    refusal: null,
    outcome: { done, before, status: run.status, changed, goes_back: back?.() ?? null },
  };
}
