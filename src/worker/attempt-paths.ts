import { readdirSync } from "node:fs";
import { join } from "node:path";

const SELF_HEAL_DIGITS = 4;

/** Where the files of runs lie below the output folder (by default `.daruma`). */
export interface AttemptName {
  readonly workflowId: number;
  readonly jobId: number;
  readonly runId: number;
  readonly attempt: number;
  /** The recovery script that follows the attempt, with logs of its own. */
  readonly recovery?: boolean;
}

let last = { base: "", folder: "output" };

/** Joined once: each attempt asks for several paths below it. */
export function outputFolder(base: string): string {
  if (base !== last.base) last = { base, folder: join(base, "output") };
  return last.folder;
}

/** The logs of all runs, each in a folder of its run. */
export function logFolder(base: string): string {
  return `${outputFolder(base)}/job_stdio`;
}

/** What the attempts of one run printed. */
export function runLogFolder(base: string, runId: number): string {
  return `${logFolder(base)}/run-${runId}`;
}

/** Everything of a run but its logs. */
export function runFolder(base: string, runId: number): string {
  return `${outputFolder(base)}/run-${runId}`;
}

/** What an attempt printed, and samples of what its processes used. */
export type LogStream = "stdout" | "stderr" | "usage";
const LOG_ENDINGS: { readonly [stream in LogStream]: string } = {
  stdout: "o",
  stderr: "e",
  usage: "usage.csv",
};

/** Of each one an attempt, never reused. */
export function logFile(base: string, name: AttemptName, stream: LogStream): string {
  return `${runLogFolder(base, name.runId)}/${logName(name, stream)}`;
}

/** Paths of all logs of these runs. */
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

/** What became of a failed attempt, in a few lines. */
export function summaryArtifact(base: string, name: AttemptName): string {
  return runArtifact(base, name, "summaries", "txt");
}

/** What is known of the attempt's failure; attempt 0 is the step's `if`. */
export function failureArtifact(base: string, name: AttemptName): string {
  return runArtifact(base, name, "failures", "json");
}

/** The failure that a transition brought to the attempt, and what of it was kept. */
export function contextArtifact(
  base: string,
  name: AttemptName,
): { readonly text: string; readonly manifest: string } {
  return {
    text: runArtifact(base, name, "contexts", "txt"),
    manifest: runArtifact(base, name, "contexts", "json"),
  };
}

/** What the attempt was told of the one before it. */
export function retryContextArtifact(base: string, name: AttemptName): string {
  return runArtifact(base, name, "contexts", "retry.txt");
}

/** What an agent or a model was told in the attempt, and what of it was kept. */
export function promptArtifact(
  base: string,
  name: AttemptName,
): { readonly text: string; readonly manifest: string } {
  return {
    text: runArtifact(base, name, "contexts", "prompt.txt"),
    manifest: runArtifact(base, name, "contexts", "prompt.json"),
  };
}

/** What became of a failed attempt that self-heal watched. `step` is the job's number in its run. */
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

/** The stream whose files end so. */
export function streamOfEnding(ending: string): LogStream {
  return (
    (Object.keys(LOG_ENDINGS) as LogStream[]).find((stream) => LOG_ENDINGS[stream] === ending) ?? "stderr"
  );
}

function runArtifact(base: string, name: AttemptName, folder: string, ending: string): string {
  return `${runFolder(base, name.runId)}/${folder}/j${name.jobId}_a${name.attempt}.${ending}`;
}
