import type { AttemptStatus, RunStatus } from "../core/model/rows.js";
import { number, type OfFields, text } from "../core/text/shape.js";
import type { RunSearch } from "./filters.js";

/** Selects the runs to count. Imported ones never count. */
export interface CountFilter extends RunSearch {
  readonly runIds?: readonly number[];
  /** Runs are counted by creation time, in intervals of this length. */
  readonly bucketMs: number;
  /** For `usage` and `scripts`: only jobs of these steps. */
  readonly steps?: readonly CountedStep[];
}

export interface CountedStep {
  readonly definition_hash: string;
  /** The step as the file writes it. */
  readonly step: string;
}

export interface RunCount {
  /** The index of the interval. */
  readonly bucket: number;
  readonly workflow: string;
  readonly status: RunStatus;
  /** The run met a failure. */
  readonly fell: boolean;
  /** A failure of the run was handled, or not all was mended in a child run of it. */
  readonly handled: boolean;
  /** A decision about its hold skipped or completed a failed job of the run. */
  readonly decided: boolean;
  readonly runs: number;
}

export interface AttemptCount extends CountedStep {
  readonly workflow: string;
  readonly worker: string;
  readonly status: AttemptStatus;
  /** Whether the job has completed. */
  readonly completed: boolean;
  readonly attempts: number;
  readonly ms: number;
}

/** Counts of failures from the failure book, which has them once a rung has acted. */
export interface FailureCount extends CountedStep {
  readonly workflow: string;
  readonly code: string;
  readonly class: string;
  /** The rung that acted. */
  readonly action: string;
  /** The worker; null if no attempt had begun. */
  readonly worker: string | null;
  readonly failures: number;
  /** The total duration of the failed attempts. */
  readonly lost_ms: number;
  /** How many failures were followed by another attempt. */
  readonly again: number;
  /** The total time from failures to the next attempts. */
  readonly waited_ms: number;
}

/** How jobs with a failure ended, from the failure book. */
export interface EndCount {
  /** What rescued them; null if nothing did. */
  readonly action: string | null;
  readonly tried: readonly string[];
  readonly jobs: number;
}

export const USAGE_COUNT = {
  ...{ workflow: text, step: text, model: text },
  ...{ calls: number, input_tokens: number, output_tokens: number },
} as const;
export type UsageCount = OfFields<typeof USAGE_COUNT>;

export interface ScriptCount {
  readonly run: number;
  readonly failed: number;
}

/** Decisions that people made after this time. Actions at a deadline do not count. */
export interface DecisionCount {
  readonly kind: "hold" | "question";
  /** The time since the step was held, or the question was asked. */
  readonly after_ms: number;
  readonly decisions: number;
}

export interface Counts {
  readonly runs: RunCount;
  readonly attempts: AttemptCount;
  readonly failures: FailureCount;
  readonly ends: EndCount;
  readonly usage: UsageCount;
  readonly scripts: ScriptCount;
  readonly decisions: DecisionCount;
}
export type CountKind = keyof Counts;

/** Sums over the rows of many runs. Reads logs only for decisions, and for the events of jobs that `steps` names. */
export interface CountStore {
  count<Kind extends CountKind>(kind: Kind, filter: CountFilter): Promise<Counts[Kind][]>;
}

/** How a column of an answer is converted: unchanged, to a boolean, or from JSON. */
export type CountColumns<Row> = {
  readonly [Field in keyof Row]-?: Row[Field] extends boolean
    ? "mark"
    : Row[Field] extends readonly string[]
      ? "json"
      : "plain";
};
