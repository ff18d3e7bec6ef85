import type { JobStatus, RunStatus } from "../core/model/rows.js";
import { JOB_IDS_PER_RUN } from "../core/model/run.js";

/** A filter for runs, and for jobs by their runs. */
export interface RunSearch {
  /** The workflow's name. */
  readonly workflow?: string;
  /** Created at this time or later. */
  readonly since?: number;
  /** Created before this time. */
  readonly until?: number;
  /** A run must have all of these labels. */
  readonly labels?: readonly SoughtLabel[];
}

export interface SoughtLabel {
  readonly key: string;
  /** Null matches any value. */
  readonly value: string | null;
}

export interface JobFilter extends RunSearch {
  readonly status?: readonly JobStatus[];
  readonly runId?: number;
  /** Only of these runs. */
  readonly runIds?: readonly number[];
  /**
   * Text in the name of the step (ASCII letters match in either case) or in the message of a failed attempt, prepared
   * by `searchText`.
   */
  readonly text?: string;
  /** The beginning of a failed attempt's signature. */
  readonly signature?: string;
  readonly workflowId?: number;
  /** A step, or the name of a family, which matches all of its steps. */
  readonly step?: string;
  /** Only dead letters. */
  readonly deadLetter?: true;
  readonly limit?: number;
  readonly afterId?: number;
}

export interface RunFilter extends RunSearch {
  readonly status?: readonly RunStatus[];
  /** Text in the run's own messages or in those of a failed attempt, prepared by `searchText`. */
  readonly text?: string;
  /** The beginning of a failed attempt's signature. */
  readonly signature?: string;
  /** Child runs of this job. */
  readonly parentJob?: number;
  /** Child runs of all jobs of this run. */
  readonly parentRun?: number;
  /** The only run of this cause. */
  readonly cause?: string;
  /** Only runs in which a rung brought a step back. */
  readonly recovered?: true;
  /** Only runs that wait for a person. */
  readonly waiting?: true;
  readonly limit?: number;
  readonly beforeId?: number;
}

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
