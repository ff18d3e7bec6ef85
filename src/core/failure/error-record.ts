import { ERROR_RECORD, type ErrorRecord, type Failure } from "../model/failure.js";
import type { Job } from "../model/run.js";
import { iso } from "../text/iso-time.js";
import { blank } from "../text/shape.js";
import type { JudgedEnd } from "./judge.js";

/** What a job ended with: the failure of its last attempt where that is it, else a record of its own. */
export function jobFailure(job: Job, ending: JudgedEnd, at: number): Failure {
  const { error, step } = job;
  if (error !== null && error.code === ending.code && error.message === ending.message) return error;
  const { id, action } = step.definition;
  const attempt = job.attempt > 0 && job.attemptVisit === job.visit ? job.attempt : null;
  const whose = { action: action.type, step_id: id, job_id: job.id, attempt };
  return { ...endingRecord(ending, at), ...whose, cause: error };
}

/** What a run ended with: the failure of the job to blame, in the run's words. */
export function runError(ending: JudgedEnd, blamed: Failure | null, at: number): ErrorRecord {
  if (blamed === null) return endingRecord(ending, at);
  return { ...blamed, message: ending.message, timestamp: iso(at) };
}

const NOTHING_KNOWN = blank(ERROR_RECORD);

/** Nobody's: facts that only an attempt has are null or empty. */
function endingRecord(ending: JudgedEnd, at: number): ErrorRecord {
  return { ...NOTHING_KNOWN, ...ending, timestamp: iso(at) };
}
