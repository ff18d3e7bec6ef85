import { existsSync } from "node:fs";
import { DarumaError } from "../core/errors.js";
import type { AttemptRow, JobRow } from "../core/rows.js";
import type { Store } from "../store/store.js";
import { type AttemptName, contextArtifact, logFile, summaryArtifact } from "../worker/attempt-paths.js";
import { chooseJob } from "./choose-job.js";
import { listNames } from "./job-name.js";

export interface LogRequest {
  readonly runId: number;
  readonly step: string;
  /** The last one unless told. */
  readonly attempt?: number;
  /** `root/list[2]` or `list[2]`; needed where the step ran in several branches. */
  readonly scope?: string;
}

/** Where the output of one attempt, or of the recovery script after it, lies. What printed nothing may have no file. */
export interface AttemptLogs {
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly status: AttemptRow["status"];
  readonly stdout: string;
  readonly stderr: string;
}

/** A text that belongs to an attempt beside its logs. */
export interface AttemptArtifact {
  readonly step: string;
  readonly scope: string;
  readonly attempt: number;
  readonly file: string;
  /** Of a failure context: what was included, cut and dropped. */
  readonly manifest: string | null;
}

export async function findLogs(store: Store, outputDir: string, request: LogRequest): Promise<AttemptLogs> {
  const { job, name, attempts } = await findAttempts(store, request);
  return logsOf(outputDir, job, chooseAttempt(attempts, job, request.attempt), name);
}

/** Of the last attempt that a recovery script followed, unless told. */
export async function findRecoveryLogs(
  store: Store,
  outputDir: string,
  request: LogRequest,
): Promise<AttemptLogs> {
  const { job, name, attempts } = await findAttempts(store, request);
  const hasScript = ({ attempt }: AttemptRow): boolean => {
    const files = (["stdout", "stderr"] as const).map((stream) =>
      logFile(outputDir, { ...name, attempt, recovery: true }, stream),
    );
    return files.some((file) => existsSync(file));
  };
  const chosen = chooseWith(attempts, job, request.attempt, hasScript, "no recovery script ran");
  return logsOf(outputDir, job, chosen, { ...name, recovery: true });
}

/** `context`: the failure that a transition brought to the attempt. `summary`: what became of a failed attempt. */
export async function findArtifact(
  store: Store,
  outputDir: string,
  request: LogRequest & { readonly kind: "context" | "summary" },
): Promise<AttemptArtifact> {
  const { job, name, attempts } = await findAttempts(store, request);
  const fileOf = (attempt: number): string =>
    request.kind === "summary"
      ? summaryArtifact(outputDir, { ...name, attempt })
      : contextArtifact(outputDir, { ...name, attempt }).text;
  const missing = request.kind === "summary" ? "there is no failure summary" : "no failure was routed to it";
  const has = ({ attempt }: AttemptRow): boolean => existsSync(fileOf(attempt));
  const { attempt } = chooseWith(attempts, job, request.attempt, has, missing);
  const manifest =
    request.kind === "summary" ? null : contextArtifact(outputDir, { ...name, attempt }).manifest;
  return { step: job.step, scope: job.scope, attempt, file: fileOf(attempt), manifest };
}

interface FoundAttempts {
  readonly job: JobRow;
  readonly name: Omit<AttemptName, "attempt">;
  /** Oldest first; there is at least one. */
  readonly attempts: readonly AttemptRow[];
}

async function findAttempts(store: Store, request: LogRequest): Promise<FoundAttempts> {
  const { runId, step, scope } = request;
  const run = await store.readRun(runId);
  if (run === null) throw new DarumaError("RUN_NOT_FOUND", `there is no run ${runId}`);
  const job = chooseJob(await store.readJobs(run.id), {
    runId,
    name: step,
    ...(scope === undefined ? {} : { scope }),
  });
  const attempts = (await store.readAttempts(run.id)).filter((row) => row.job_id === job.id);
  if (attempts.length === 0) {
    throw new DarumaError("ATTEMPT_NOT_FOUND", `${job.step} has not run: it is ${job.status}`, {
      hint: `See \`daruma explain ${job.run_id} ${job.step}\`.`,
    });
  }
  return {
    job,
    name: { workflowId: run.workflow_id, jobId: job.id, runId: run.id },
    attempts: attempts.sort((first, second) => first.attempt - second.attempt),
  };
}

function logsOf(
  outputDir: string,
  job: JobRow,
  { attempt, status }: AttemptRow,
  name: Omit<AttemptName, "attempt">,
): AttemptLogs {
  return {
    step: job.step,
    scope: job.scope,
    attempt,
    status,
    stdout: logFile(outputDir, { ...name, attempt }, "stdout"),
    stderr: logFile(outputDir, { ...name, attempt }, "stderr"),
  };
}

function chooseAttempt(attempts: readonly AttemptRow[], job: JobRow, wanted: number | undefined): AttemptRow {
  const found = wanted === undefined ? attempts.at(-1) : attempts.find((row) => row.attempt === wanted);
  if (found === undefined) {
    const known = listNames(attempts, (row) => `${row.attempt} (${row.status})`);
    throw new DarumaError("ATTEMPT_NOT_FOUND", `${job.step} has no attempt ${wanted}`, {
      hint: `Its attempts: ${known}.`,
    });
  }
  return found;
}

/** The attempt asked for, or the last that has what is wanted. */
function chooseWith(
  attempts: readonly AttemptRow[],
  job: JobRow,
  wanted: number | undefined,
  has: (attempt: AttemptRow) => boolean,
  missing: string,
): AttemptRow {
  if (wanted !== undefined) chooseAttempt(attempts, job, wanted);
  const able = attempts.filter(has);
  const found = wanted === undefined ? able.at(-1) : able.find((row) => row.attempt === wanted);
  if (found === undefined) {
    const where = wanted === undefined ? job.step : `${job.step} attempt ${wanted}`;
    const known =
      able.length === 0 ? "" : ` There is one for attempt ${listNames(able, (row) => String(row.attempt))}.`;
    throw new DarumaError("ATTEMPT_NOT_FOUND", `${where}: ${missing}`, {
      hint: `See \`daruma explain ${job.run_id} ${job.step}\`.${known}`,
    });
  }
  return found;
}
