import { JOB_IDS_PER_RUN } from "../core/model/run.js";
import type { JobFilter } from "./filters.js";

/** Whether a filter for jobs uses properties of their runs. */
export function searchesRuns({ workflowId, workflow, since, until, labels = [] }: JobFilter): boolean {
  const asked = [workflowId, workflow, since, until].some((each) => each !== undefined);
  return asked || labels.length > 0;
}

/** The smallest text after every signature with this beginning. Signatures are ASCII. */
export function afterSignatures(beginning: string): string {
  return `${beginning}\u007f`;
}

/** The first job id of a run, or of the run `later` numbers after it. A run's job ids lie between these two. */
export function firstJobId(run: number | undefined, later = 0): number | undefined {
  return run === undefined ? undefined : (run + later) * JOB_IDS_PER_RUN;
}

export function runOfJobId(jobId: number): number {
  return Math.floor(jobId / JOB_IDS_PER_RUN);
}
