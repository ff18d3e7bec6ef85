import { mkdirSync, readdirSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import type { Assignment } from "../worker.js";

const SELF_HEAL_DIGITS = 4;

/** Identifies the files of one attempt, which are below the output folder (by default `.daruma`). */
export interface AttemptName {
  readonly workflowId: number;
  readonly jobId: number;
  readonly runId: number;
  readonly attempt: number;
  /** Set for the recovery script after the attempt, which has its own logs. */
  readonly recovery?: boolean;
}

let last = { base: "", folder: "output" };

/** Cached, because each attempt needs several paths below it. */
export function outputFolder(base: string): string {
  if (base !== last.base) last = { base, folder: join(base, "output") };
  return last.folder;
}

/** The logs of all runs, with a folder for each run. */
export function logFolder(base: string): string {
  return `${outputFolder(base)}/job_stdio`;
}

/** The logs of one run's attempts. */
export function runLogFolder(base: string, runId: number): string {
  return `${logFolder(base)}/run-${runId}`;
}

/** Everything of a run except its logs. */
export function runFolder(base: string, runId: number): string {
  return `${outputFolder(base)}/run-${runId}`;
}

/** The output of an attempt, or samples of its processes' resource use. */
type LogStream = "stdout" | "stderr" | "usage";
const LOG_ENDINGS: { readonly [stream in LogStream]: string } = {
  stdout: "o",
  stderr: "e",
  usage: "usage.csv",
};

/** The log of an attempt. Its name is never reused. */
export function logFile(base: string, name: AttemptName, stream: LogStream): string {
  return `${runLogFolder(base, name.runId)}/${logName(name, stream)}`;
}

/** The paths of all logs of these runs. */
export function logFilesOf(base: string, runs: ReadonlySet<number>): string[] {
  return [...runs].flatMap((runId) => {
    const folder = runLogFolder(base, runId);
    return namesIn(folder).map((name) => join(folder, name));
  });
}

function logName({ workflowId, jobId, runId, attempt, recovery }: AttemptName, stream: LogStream): string {
  const ending = `${recovery === true ? "recovery." : ""}${LOG_ENDINGS[stream]}`;
  return `job_wf${workflowId}_j${jobId}_r${runId}_a${attempt}.${ending}`;
}

function namesIn(folder: string): string[] {
  try {
    return readdirSync(folder);
  } catch {
    return [];
  }
}

export function outputArtifact(base: string, name: AttemptName): string {
  return runArtifact(base, name, "outputs", "json");
}

/** A short summary of a failed attempt. */
export function summaryArtifact(base: string, name: AttemptName): string {
  return runArtifact(base, name, "summaries", "txt");
}

/** The record of the attempt's failure. Attempt 0 stands for the step's `if`. */
export function failureArtifact(base: string, name: AttemptName): string {
  return runArtifact(base, name, "failures", "json");
}

/** The failure context that a transition passed to the attempt, and its manifest. */
export function contextArtifact(
  base: string,
  name: AttemptName,
): { readonly text: string; readonly manifest: string } {
  return {
    text: runArtifact(base, name, "contexts", "txt"),
    manifest: runArtifact(base, name, "contexts", "json"),
  };
}

/** The attempt's context about the previous attempt. */
export function retryContextArtifact(base: string, name: AttemptName): string {
  return runArtifact(base, name, "contexts", "retry.txt");
}

/** The prompt of an agent or model in the attempt, and its manifest. */
export function promptArtifact(
  base: string,
  name: AttemptName,
): { readonly text: string; readonly manifest: string } {
  return {
    text: runArtifact(base, name, "contexts", "prompt.txt"),
    manifest: runArtifact(base, name, "contexts", "prompt.json"),
  };
}

/** The record of a failed attempt that self-heal watched. `step` is the job's number in its run. */
export function selfHealArtifact(
  base: string,
  runId: number,
  { step, attempt }: { readonly step: number; readonly attempt: number },
): string {
  const digits = (count: number): string => String(count).padStart(SELF_HEAL_DIGITS, "0");
  const name = `attempt-${digits(step)}-${digits(attempt)}.json`;
  return join(runFolder(base, runId), "state", "self_heal", name);
}

/** The tokens that the attempt of a model step used. */
export function usageArtifact(base: string, name: AttemptName): string {
  return runArtifact(base, name, "usage", "json");
}

/** The stream whose files have this ending. */
export function streamOfEnding(ending: string): LogStream {
  return (
    (Object.keys(LOG_ENDINGS) as LogStream[]).find((stream) => LOG_ENDINGS[stream] === ending) ?? "stderr"
  );
}

function runArtifact(base: string, name: AttemptName, folder: string, ending: string): string {
  return `${runFolder(base, name.runId)}/${folder}/j${name.jobId}_a${name.attempt}.${ending}`;
}

/** The folder in which an attempt works. A run without a folder gets one from each worker when it is needed. */
export function workFolder(base: string, { runId, cwd }: Pick<Assignment, "runId" | "cwd">): string {
  if (isAbsolute(cwd)) return cwd;
  const folder = workFolderOf(base, runId);
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  return join(folder, cwd);
}

export function workFolders(base: string): string {
  return join(base, "work");
}

export function workFolderOf(base: string, runId: number): string {
  return join(workFolders(base), `run-${runId}`);
}
