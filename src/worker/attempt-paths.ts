import { join } from "node:path";

/** Where the files of runs lie below the output folder (`.daruma` unless told). */
export interface AttemptName {
  readonly workflowId: number;
  readonly jobId: number;
  readonly runId: number;
  readonly attempt: number;
}

export function outputFolder(base: string): string {
  return join(base, "output");
}

export function logFolder(base: string): string {
  return join(outputFolder(base), "job_stdio");
}

/** One pair an attempt, never reused. */
export function logFile(base: string, name: AttemptName, stream: "stdout" | "stderr"): string {
  const { workflowId, jobId, runId, attempt } = name;
  return join(
    logFolder(base),
    `job_wf${workflowId}_j${jobId}_r${runId}_a${attempt}.${stream === "stdout" ? "o" : "e"}`,
  );
}

export function outputArtifact(base: string, name: AttemptName): string {
  return join(outputFolder(base), `run-${name.runId}`, "outputs", `j${name.jobId}_a${name.attempt}.json`);
}
