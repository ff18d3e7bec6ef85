import type { JobStatus } from "../../core/rows.js";
import { chooseJob } from "../../operations/choose-job.js";
import { nameOf } from "../../operations/job-name.js";
import type { Session } from "../channel.js";
import { type OperatorFlags, operate } from "../operate.js";
import type { RunReference } from "../run-reference.js";

export interface RetryFlags extends OperatorFlags {
  readonly force?: boolean;
  readonly scope?: string;
}

const RETRYABLE: readonly JobStatus[] = ["failed", "canceled", "pending_failed"];

/** A failed step again with all budgets anew; with --force back to any step, and forward again from there. */
export function retry(
  reference: RunReference,
  step: string,
  flags: RetryFlags,
  session: Session,
): Promise<number> {
  return operate(session, reference, flags, async ({ store, runId, reason, key }) => {
    const scope = flags.scope === undefined ? {} : { scope: flags.scope };
    const job = chooseJob(await store.readJobs(runId), { runId, name: step, ...scope });
    const goesBack = flags.force === true && !RETRYABLE.includes(job.status);
    const name = nameOf(job.step, job.scope);
    return {
      action: goesBack ? "resume_from_step" : "retry_step",
      command: { type: goesBack ? "step.resume_from" : "step.retry", job: job.id, reason, key },
      sentence: () =>
        goesBack ? `${name} and what depends on it run again` : `${name} is retried, with all budgets anew`,
    };
  });
}
