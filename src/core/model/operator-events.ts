import type { HoldAction, Output, ScopeItem } from "./event-parts.js";

/** The first event of what an operator asked for has its key, by which the same command is known again. */
export type OperatorEvent =
  | { readonly type: "run.cancel_requested"; readonly reason: string; readonly key: string | null }
  | {
      readonly type: "run.paused";
      readonly reason: string;
      readonly key: string | null;
      readonly takeover: boolean;
    }
  | { readonly type: "run.unpaused"; readonly reason: string; readonly key: string | null }
  | { readonly type: "run.reopened"; readonly reason: string; readonly key: string | null }
  | {
      readonly type: "hold.resolved";
      readonly job: number;
      readonly action: HoldAction;
      readonly reason: string;
      readonly key: string | null;
      readonly output: Output | null;
      readonly items: readonly ScopeItem[] | null;
    }
  | {
      readonly type: "jobs.retried";
      readonly jobs: readonly number[];
      readonly reblocked: readonly number[];
      readonly action: "retry_step" | "hard_reset_step" | "redrive" | "reset" | "resolve";
      /** Attempts in all that the job may have: whatever would begin another after that does not. */
      readonly maxAttempts?: number;
      readonly reason: string;
      readonly key: string | null;
    }
  | {
      readonly type: "human.answered";
      readonly job: number;
      readonly attempt: number;
      readonly choice: string;
      readonly text: string;
      readonly reason?: string;
      readonly key: string | null;
    };
