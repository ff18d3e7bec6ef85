import type { JobStatus, RunStatus } from "../core/model/rows.js";

/** What runs are looked for by, and jobs by their runs. */
export interface RunSearch {
  /** The workflow's name. */
  readonly workflow?: string;
  /** Created at this time or later. */
  readonly since?: number;
  /** Created before this time. */
  readonly until?: number;
  /** All of them. */
  readonly labels?: readonly SoughtLabel[];
}

export interface SoughtLabel {
  readonly key: string;
  /** Null: whatever it is. */
  readonly value: string | null;
}

export interface JobFilter extends RunSearch {
  readonly status?: readonly JobStatus[];
  readonly runId?: number;
  /** Only of these runs. */
  readonly runIds?: readonly number[];
  /** In the name of the step (small and capital letters of ASCII are the same) or in the words of a failed attempt; as `searchText` makes it. */
  readonly text?: string;
  /** The signature of a failed attempt begins so. */
  readonly signature?: string;
  readonly workflowId?: number;
  /** A step, or the name of a family for all of its steps. */
  readonly step?: string;
  /** Only those that the queue has given up. */
  readonly deadLetter?: true;
  readonly limit?: number;
  readonly afterId?: number;
}

export interface RunFilter extends RunSearch {
  readonly status?: readonly RunStatus[];
  /** In the run's own words or in those of a failed attempt; as `searchText` makes it. */
  readonly text?: string;
  /** The signature of a failed attempt begins so. */
  readonly signature?: string;
  /** Child runs of this job. */
  readonly parentJob?: number;
  /** Child runs of all jobs of this run. */
  readonly parentRun?: number;
  /** The one run of this cause. */
  readonly cause?: string;
  /** Only runs in which a rung brought a step back. */
  readonly recovered?: true;
  /** Only runs that wait for somebody. */
  readonly waiting?: true;
  readonly limit?: number;
  readonly beforeId?: number;
}
