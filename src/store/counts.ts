import type { AttemptStatus, RunStatus } from "../core/model/rows.js";
import type { RunSearch } from "./filters.js";

/** Which runs are counted; imported ones never are. */
export interface CountFilter extends RunSearch {
  readonly runIds?: readonly number[];
  /** Runs are counted by the time of their creation, in pieces of this length. */
  readonly bucketMs: number;
  /** For `usage` and `scripts`: only jobs of these steps. */
  readonly steps?: readonly CountedStep[];
}

export interface CountedStep {
  readonly definition_hash: string;
  /** As the file writes it. */
  readonly step: string;
}

export interface RunCount {
  /** How many pieces of time lie before. */
  readonly bucket: number;
  readonly workflow: string;
  readonly status: RunStatus;
  /** It has met a failure. */
  readonly fell: boolean;
  /** A failure of it was handled. */
  readonly handled: boolean;
  /** Somebody skipped or completed a job of it that had failed. */
  readonly by_hand: boolean;
  readonly runs: number;
}

export interface AttemptCount extends CountedStep {
  readonly workflow: string;
  readonly worker: string;
  readonly status: AttemptStatus;
  /** Their job has completed. */
  readonly completed: boolean;
  readonly attempts: number;
  readonly ms: number;
}

/** Failures as the failure book has them: once a rung has acted. */
export interface FailureCount extends CountedStep {
  readonly workflow: string;
  readonly code: string;
  readonly class: string;
  /** The rung that acted. */
  readonly action: string;
  /** Null: no attempt had begun. */
  readonly worker: string | null;
  readonly failures: number;
  /** How long the attempts took that failed. */
  readonly lost_ms: number;
  /** After how many the job was tried again. */
  readonly again: number;
  /** From the failure to the next attempt, where there is one. */
  readonly waited_ms: number;
}

/** How jobs ended that had met a failure, as the failure book has it. */
export interface EndCount {
  /** What rescued them; null: nothing did. */
  readonly action: string | null;
  readonly tried: readonly string[];
  readonly jobs: number;
}

export interface UsageCount {
  readonly workflow: string;
  readonly step: string;
  readonly model: string;
  readonly calls: number;
  readonly input_tokens: number;
  readonly output_tokens: number;
}

export interface ScriptCount {
  readonly run: number;
  readonly failed: number;
}

/** Decisions that somebody made after this time; not what was done because nobody did. */
export interface DecisionCount {
  readonly kind: "hold" | "question";
  /** Since the step was held, or the question asked. */
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

/** Sums over the rows of many runs. Nothing is read from their logs but decisions, and the events of jobs that `steps` names. */
export interface CountStore {
  count<Kind extends CountKind>(kind: Kind, filter: CountFilter): Promise<Counts[Kind][]>;
}

/** How a column of an answer is read: as it is, as yes or no, or as JSON. */
export type CountColumns<Row> = {
  readonly [Field in keyof Row]-?: Row[Field] extends boolean
    ? "mark"
    : Row[Field] extends readonly string[]
      ? "json"
      : "plain";
};
