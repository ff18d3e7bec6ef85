import { existsSync } from "node:fs";
import { DarumaError } from "../../core/errors/errors.js";
import type { AttemptRow, JobRow } from "../../core/model/rows.js";
import {
  type AttemptName,
  contextArtifact,
  logFile,
  promptArtifact,
  summaryArtifact,
} from "../../run/worker/attempt-paths.js";
import type { Store } from "../../store/store.js";
import { listNames } from "../../tell/lookup/job-name.js";
import { requireRun } from "../../tell/lookup/run-reference.js";
import { refuseRemoved } from "../retention/removed-files.js";

export interface LogRequest {
  readonly job: JobRow;
  /** By default the last attempt. */
  readonly attempt?: number;
}

/** The output files of one attempt, or of the recovery script after it. There may be no file if nothing was printed. */
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
  /** For a failure context or a prompt: what was included, cut and dropped. */
  readonly manifest: string | null;
}

/**
 * `context`: the failure that a transition passed to the attempt. `prompt`: what an agent or model was asked.
 * `summary`: the summary of a failed attempt. `usage`: samples of its processes' resource use.
 */
export const ARTIFACT_KINDS = ["context", "prompt", "summary", "usage"] as const;
export type ArtifactKind = (typeof ARTIFACT_KINDS)[number];

/** Which of them an attempt has. */
export function artifactsThere(outputDir: string, name: AttemptName): ArtifactKind[] {
  return ARTIFACT_KINDS.filter((kind) => existsSync(artifactFiles(outputDir, name, kind).text));
}

export async function findLogs(store: Store, outputDir: string, request: LogRequest): Promise<AttemptLogs> {
  const { job, name, attempts } = await findAttempts(store, request);
  return logsOf(outputDir, job, chooseAttempt(attempts, job, request.attempt), name);
}

/** By default the recovery script of the last attempt that had one. */
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
  const chosen = chooseWith(attempts, job, request.attempt, {
    has: hasScript,
    missing: "no recovery script ran",
    refuse: (since) => refuseRemoved(outputDir, { runId: job.run_id, kind: "logs", since }),
  });
  return logsOf(outputDir, job, chosen, { ...name, recovery: true });
}

const WHAT_IS_MISSING: Readonly<Record<ArtifactKind, string>> = {
  context: "no failure was routed to it",
  prompt: "no agent or model was asked",
  summary: "there is no failure summary",
  usage: "nothing was sampled",
};

export async function findArtifact(
  store: Store,
  outputDir: string,
  request: LogRequest & { readonly kind: ArtifactKind },
): Promise<AttemptArtifact> {
  const { kind } = request;
  const { job, name, attempts } = await findAttempts(store, request);
  const filesOf = (attempt: number) => artifactFiles(outputDir, { ...name, attempt }, kind);
  const has = ({ attempt }: AttemptRow): boolean => existsSync(filesOf(attempt).text);
  const { attempt } = chooseWith(attempts, job, request.attempt, {
    has,
    missing: WHAT_IS_MISSING[kind],
    refuse: (since) =>
      refuseRemoved(outputDir, {
        runId: job.run_id,
        kind: kind === "usage" ? "logs" : "artifacts",
        since,
      }),
  });
  const { text, manifest } = filesOf(attempt);
  return { step: job.step, scope: job.scope, attempt, file: text, manifest };
}

function artifactFiles(
  outputDir: string,
  name: AttemptName,
  kind: ArtifactKind,
): { readonly text: string; readonly manifest: string | null } {
  switch (kind) {
    case "context":
      return contextArtifact(outputDir, name);
    case "prompt":
      return promptArtifact(outputDir, name);
    case "summary":
      return { text: summaryArtifact(outputDir, name), manifest: null };
    case "usage":
      return { text: logFile(outputDir, name, "usage"), manifest: null };
  }
}

/** All that a person reads of an attempt, whether the files are there or not. */
export async function textsOfAttempt(
  store: Store,
  outputDir: string,
  job: JobRow,
  attempt: number,
): Promise<{ readonly name: string; readonly file: string }[]> {
  const { workflow_id: workflowId } = await requireRun(store, job.run_id);
  const name: AttemptName = { workflowId, jobId: job.id, runId: job.run_id, attempt };
  return [
    { name: "stderr", file: logFile(outputDir, name, "stderr") },
    { name: "stdout", file: logFile(outputDir, name, "stdout") },
    { name: "prompt", file: artifactFiles(outputDir, name, "prompt").text },
    { name: "context", file: artifactFiles(outputDir, name, "context").text },
  ];
}

interface FoundAttempts {
  readonly job: JobRow;
  readonly name: Omit<AttemptName, "attempt">;
  /** Oldest first; there is at least one. */
  readonly attempts: readonly AttemptRow[];
}

async function findAttempts(store: Store, request: LogRequest): Promise<FoundAttempts> {
  const { job } = request;
  const run = await requireRun(store, job.run_id);
  const attempts = await store.readAttempts(run.id, job.id);
  if (attempts.length === 0) {
    throw new DarumaError("ATTEMPT_NOT_FOUND", `${job.step} has not run: it is ${job.status}`, {
      hint: {
        typed: `See \`daruma explain ${job.run_id} ${job.step}\`.`,
        asked: "explain_run says what happened to it.",
      },
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
  { attempt, status, finished_at }: AttemptRow,
  name: Omit<AttemptName, "attempt">,
): AttemptLogs {
  const [stdout, stderr] = (["stdout", "stderr"] as const).map((stream) =>
    logFile(outputDir, { ...name, attempt }, stream),
  ) as [string, string];
  if (!existsSync(stdout) && !existsSync(stderr))
    refuseRemoved(outputDir, { runId: name.runId, kind: "logs", since: finished_at ?? Number.MAX_VALUE });
  return {
    step: job.step,
    scope: job.scope,
    attempt,
    status,
    stdout,
    stderr,
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
  {
    has,
    missing,
    refuse,
  }: {
    readonly has: (attempt: AttemptRow) => boolean;
    readonly missing: string;
    /** Called where nothing is found, with the time of the attempt that was looked at last. */
    readonly refuse: (since: number) => void;
  },
): AttemptRow {
  if (wanted !== undefined) chooseAttempt(attempts, job, wanted);
  const able = attempts.filter(has);
  const found = wanted === undefined ? able.at(-1) : able.find((row) => row.attempt === wanted);
  if (found === undefined) {
    const last = wanted === undefined ? attempts.at(-1) : attempts.find((row) => row.attempt === wanted);
    refuse(last?.finished_at ?? Number.MAX_VALUE);
    const where = wanted === undefined ? job.step : `${job.step} attempt ${wanted}`;
    const known =
      able.length === 0 ? "" : ` There is one for attempt ${listNames(able, (row) => String(row.attempt))}.`;
    throw new DarumaError("ATTEMPT_NOT_FOUND", `${where}: ${missing}`, {
      hint: {
        typed: `See \`daruma explain ${job.run_id} ${job.step}\`.${known}`,
        asked: `explain_run says what happened to it.${known}`,
      },
    });
  }
  return found;
}
