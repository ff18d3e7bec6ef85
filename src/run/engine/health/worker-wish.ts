import { retryMax } from "../../../core/decide/ladder/retry.js";
import type { Job, Run } from "../../../core/model/run.js";
import { answerableFor } from "../../../core/model/worker-names.js";
import type { PlaceWish } from "../../worker.js";

/** Which worker a job prefers for its next attempt, given where the last one failed. */
export function wishOf(run: Run, job: Job, isPatient: (job: Job) => boolean): PlaceWish {
  const mayProve = isMadeAgain(run, job);
  const { attemptWorker } = job;
  if (job.error === null || job.attempt === 0 || attemptWorker === null)
    return { on: null, worker: null, patient: false, mayProve };
  const worker = answerableFor(attemptWorker, job.attemptPlace) ?? attemptWorker;
  // The machine may be at fault; but what a script has repaired is on it, too.
  const on = job.repaired ? "same" : (job.step.definition.onFail.retry?.onWorker ?? "other");
  return { on: on === "any" ? null : on, worker, patient: on === "other" && isPatient(job), mayProve };
}

/** Whether a failure of its next attempt is normally followed by another attempt in the same visit. */
function isMadeAgain(run: Run, job: Job): boolean {
  const { definition, options } = run;
  if (!options.failure_routing || options.only !== null) return false;
  const { definition: step } = job.step;
  if (job.retriesInVisit + job.heal.resets < retryMax(run, step)) return true;
  if (definition.queue && job.queue.requeues + 1 < definition.queue.maxAttempts) return true;
  const handler = definition.failureHandlers.find(({ name }) => name === step.failureHandler);
  return handler?.rules.some(({ maxAttempts }) => job.charged + 1 < maxAttempts) ?? false;
}
