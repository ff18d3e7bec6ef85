import { JOB_IDS_PER_RUN } from "../core/model/run.js";
import type { JobFilter } from "./filters.js";

/** Jobs are looked for by something that only their runs have. */
export function searchesRuns({ workflowId, workflow, since, until, labels = [] }: JobFilter): boolean {
  const asked = [workflowId, workflow, since, until].some((each) => each !== undefined);
  return asked || labels.length > 0;
}

/** The least text that is behind every signature that begins so; they are made of ASCII. */
export function afterSignatures(beginning: string): string {
  return `${beginning}\u007f`;
}

/** Of a run, or of the one so many numbers later: the ids of a run's jobs lie between two of these. */
export function firstJobId(run: number | undefined, later = 0): number | undefined {
  return run === undefined ? undefined : (run + later) * JOB_IDS_PER_RUN;
}

export function runOfJobId(jobId: number): number {
  return Math.floor(jobId / JOB_IDS_PER_RUN);
}
