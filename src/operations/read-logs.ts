import { DarumaError } from "../core/errors.js";
import type { AttemptRow, JobRow } from "../core/rows.js";
import type { Store } from "../store/store.js";
import { logFile } from "../worker/attempt-paths.js";
import { listNames } from "./job-name.js";

export interface LogRequest {
  readonly runId: number;
  readonly step: string;
  /** The last one unless told. */
  readonly attempt?: number;
  /** `root/list[2]` or `list[2]`; needed where the step ran in several branches. */
  readonly scope?: string;
}

/** Where the output of one attempt lies. The files may be missing if it printed nothing. */
export interface AttemptLogs {
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly status: AttemptRow["status"];
  readonly stdout: string;
  readonly stderr: string;
}

export async function findLogs(store: Store, outputDir: string, request: LogRequest): Promise<AttemptLogs> {
  const run = await store.readRun(request.runId);
  if (run === null) throw new DarumaError("RUN_NOT_FOUND", `there is no run ${request.runId}`);
  const job = chooseJob(await store.readJobs(run.id), request);
  const attempts = (await store.readAttempts(run.id)).filter((row) => row.job_id === job.id);
  const attempt = chooseAttempt(attempts, job, request.attempt);
  const name = { workflowId: run.workflow_id, jobId: job.id, runId: run.id, attempt: attempt.attempt };
  return {
    step: job.step,
    scope: job.scope,
    attempt: attempt.attempt,
    status: attempt.status,
    stdout: logFile(outputDir, name, "stdout"),
    stderr: logFile(outputDir, name, "stderr"),
  };
}

function chooseJob(jobs: readonly JobRow[], { runId, step, scope }: LogRequest): JobRow {
  const ofStep = jobs.filter((job) => job.step === step);
  if (ofStep.length === 0) {
    const known = [...new Set(jobs.map((job) => job.step))];
    throw new DarumaError("STEP_NOT_FOUND", `run ${runId} has no step ${step}`, {
      hint: `Its steps: ${listNames(known, (id) => id)}.`,
    });
  }
  const scopes = `Its scopes: ${listNames(ofStep, (job) => job.scope)}.`;
  if (scope === undefined) {
    if (ofStep.length > 1)
      throw new DarumaError(
        "USAGE",
        `${step} has ${ofStep.length} jobs in run ${runId}; name one with --scope`,
        { hint: scopes },
      );
    return ofStep[0]!;
  }
  const found = ofStep.find((job) => job.scope === scope || job.scope === `root/${scope}`);
  if (found === undefined)
    throw new DarumaError("STEP_NOT_FOUND", `run ${runId} has no ${step} in the scope ${scope}`, {
      hint: scopes,
    });
  return found;
}

function chooseAttempt(attempts: readonly AttemptRow[], job: JobRow, wanted: number | undefined): AttemptRow {
  if (attempts.length === 0) {
    throw new DarumaError("ATTEMPT_NOT_FOUND", `${job.step} has not run: it is ${job.status}`, {
      hint: `See \`daruma explain ${job.run_id} ${job.step}\`.`,
    });
  }
  const sorted = [...attempts].sort((first, second) => first.attempt - second.attempt);
  const found = wanted === undefined ? sorted.at(-1) : sorted.find((row) => row.attempt === wanted);
  if (found === undefined) {
    const known = listNames(sorted, (row) => `${row.attempt} (${row.status})`);
    throw new DarumaError("ATTEMPT_NOT_FOUND", `${job.step} has no attempt ${wanted}`, {
      hint: `Its attempts: ${known}.`,
    });
  }
  return found;
}
