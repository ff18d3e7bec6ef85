import type { UserData } from "./batch/user-data.js";
import type {
  CheckpointFacts,
  EvaluationResult,
  FileFacts,
  HoldAction,
  KeptLeftover,
  MovedCheckpoint,
  Output,
  ProcessUsage,
  ReusedJob,
  ScopeItem,
  TokenUsage,
  UnparkReason,
  WorkspaceHome,
  WorkspaceNote,
} from "./events.js";
import type { FailureClass, FailureFacts } from "./failure.js";
import type { Amounts } from "./resources.js";
import type { AttemptPlace, Placed } from "./worker-names.js";

/** What happened outside, put to the core. Everything that is not here is a consequence that the core finds itself. */
export type Command =
  | { readonly type: "run.start" }
  /**
   * A new owner has taken the run. Attempts, scripts and fresh workspaces that were under way are lost, but for the jobs in
   * `kept`: theirs go on elsewhere, or are of this owner already.
   */
  | { readonly type: "run.resume"; readonly kept: readonly number[] }
  /** The engine stops in good order. It has ended the attempts that were running, but for the jobs in `kept`. */
  | { readonly type: "run.interrupt"; readonly kept: readonly number[] }
  | {
      readonly type: "run.fork";
      readonly from: number;
      readonly step?: string;
      readonly reason: string;
      readonly reuse: readonly ReusedJob[];
    }
  | OperatorCommand
  | {
      readonly type: "recovery.finish";
      readonly job: number;
      readonly attempt: number;
      readonly ok: boolean;
      /** Its worker is gone, and nobody knows how far it came. */
      readonly lost?: boolean;
      readonly exit_code: number | null;
      readonly message: string;
      readonly duration_ms: number;
    }
  /** The run's workspace stands: at this commit, in this folder. */
  | ({
      readonly type: "workspace.open";
      readonly commit: string;
      readonly base?: string;
      readonly path: string;
      readonly notes?: readonly WorkspaceNote[];
    } & Partial<WorkspaceHome>)
  /** A new owner has built it elsewhere. */
  | ({
      readonly type: "workspace.move";
      readonly path: string;
      readonly moved?: readonly MovedCheckpoint[];
    } & WorkspaceHome)
  /** An owner cannot have it, and lets the run go. */
  | { readonly type: "workspace.leave"; readonly host: string; readonly message: string }
  /** A fresh workspace has been built beside the old one and its hashes verified, or could not be. */
  | {
      readonly type: "rebuild.finish";
      readonly rebuild: number;
      readonly ok: boolean;
      readonly path: string | null;
      readonly message: string;
      readonly moved?: readonly MovedCheckpoint[];
      readonly partial?: KeptLeftover | null;
      readonly duration_ms: number;
    }
  /** What an attempt left lies in a patch and the tree is as the last checkpoint, or that could not be done. */
  | {
      readonly type: "set_aside.finish";
      readonly job: number;
      readonly attempt: number;
      readonly ok: boolean;
      readonly patch: string | null;
      readonly files: number;
      readonly message: string;
      readonly duration_ms: number;
    }
  /** A human step's turn has come; nobody works on it, so it takes no worker's place. */
  | {
      readonly type: "human.ask";
      readonly job: number;
      readonly token: string;
      readonly prompt: string;
      readonly choices: readonly string[];
      readonly timeoutMs: number | null;
      /** What counts as the answer when the time is up; missing: the attempt fails. */
      readonly choose?: string;
    }
  | {
      readonly type: "attempt.start";
      readonly job: number;
      readonly worker: string;
      readonly token: string;
      /** Without it nobody knows. */
      readonly place?: AttemptPlace;
      readonly placed?: Placed;
      /** The worker has a bash. */
      readonly hasBash?: boolean;
      /** Ready jobs that breakers keep back: they keep nobody from the tree. */
      readonly keptBack?: readonly number[];
    }
  | {
      readonly type: "attempt.finish";
      readonly job: number;
      readonly attempt: number;
      readonly result: AttemptResult;
      readonly duration_ms: number;
      /** Missing where the worker cannot tell. */
      readonly used?: ProcessUsage;
      /** Of the breakers that the step uses, those that are open. */
      readonly breakers?: readonly OpenBreaker[];
    }
  /** Breakers have changed: these parked jobs need not wait any longer. */
  | {
      readonly type: "jobs.unpark";
      readonly jobs: readonly number[];
      readonly breaker: string;
      readonly because: UnparkReason;
    }
  /** The time until `dueAt` has passed, whatever the clock on the wall says by now. */
  | { readonly type: "timer.fire"; readonly job: number; readonly dueAt: number }
  /** The same for a moment of the run itself: its deadline, or when it is to be told that it takes long. */
  | { readonly type: "time.reach"; readonly at: number }
  | {
      readonly type: "evaluation.finish";
      readonly job: number;
      readonly id: number;
      readonly result: EvaluationResult;
    };

/** What a person or an agent asks of a run, and who asks. The same key is taken once, however often it arrives. */
export type OperatorCommand = Wish & { readonly by?: string };

type Wish =
  | {
      readonly type: "run.cancel";
      /** Without undoing anything and without `finally`; what of that is under way ends. */
      readonly now?: boolean;
      readonly reason: string;
      readonly key: string | null;
    }
  | {
      readonly type: "run.pause";
      readonly reason: string;
      readonly key: string | null;
      readonly takeover: boolean;
    }
  | { readonly type: "run.unpause"; readonly reason: string; readonly key: string | null }
  | {
      readonly type: "step.retry";
      readonly job: number;
      /**
       * Only a job that failed or was canceled, and that has had fewer attempts in all. Nothing then begins more: not a
       * rule, a retry nor any other rung.
       */
      readonly maxAttempts?: number;
      /** A job that cannot simply run again is gone back to: this is `step.resume_from` then. */
      readonly force?: boolean;
      readonly reason: string;
      readonly key: string | null;
    }
  | {
      readonly type: "step.resume_from";
      readonly job: number;
      readonly reason: string;
      readonly key: string | null;
      /** Although a step is at work in the workspace. */
      readonly force?: boolean;
    }
  /** Once more in a fresh workspace, at once. */
  | {
      readonly type: "step.hard_reset";
      readonly job: number;
      readonly reason: string;
      readonly key: string | null;
      readonly force?: boolean;
    }
  /** A dead letter goes back into the queue. */
  | {
      readonly type: "step.redrive";
      readonly job: number;
      readonly reason: string;
      readonly key: string | null;
    }
  | { readonly type: "run.reset"; readonly reason: string; readonly key: string | null }
  /** These jobs run again, with what they are given; all of them or none. */
  | {
      readonly type: "jobs.recover";
      readonly items: readonly RecoveredJob[];
      readonly reason: string;
      readonly key: string | null;
    }
  | {
      readonly type: "holds.resolve";
      readonly items: readonly HoldDecision[];
      readonly reason: string;
      readonly key: string | null;
    }
  | {
      readonly type: "human.answer";
      readonly job: number;
      readonly choice: string;
      readonly text: string;
      readonly reason?: string;
      readonly key: string | null;
    };

export interface OpenBreaker {
  readonly name: string;
  readonly classes: readonly FailureClass[];
}

export interface RecoveredJob {
  readonly job: number;
  readonly amounts?: Amounts;
}

export interface HoldDecision {
  readonly job: number;
  readonly action: HoldAction;
  /** For `complete`. */
  readonly output: Output | null;
  readonly items: readonly ScopeItem[] | null;
  /** For `retry`: what the job has from then on. */
  readonly amounts?: Amounts;
  /** Instead of the command's. */
  readonly reason?: string;
}

export type AttemptResult =
  /** `items` is given for an output that is an array. */
  | {
      readonly kind: "succeeded";
      readonly output: Output;
      readonly items: readonly ScopeItem[] | null;
      /** For a step of the workspace. */
      readonly checkpoint?: CheckpointFacts | null;
      /** Of a model call. */
      readonly usage?: TokenUsage;
      /** For a step that declares any. */
      readonly files?: readonly FileFacts[];
      /** For a job that writes any. */
      readonly user_data?: UserData;
    }
  | { readonly kind: "failed"; readonly facts: FailureFacts }
  /** The attempt was ended because the engine asked for it. */
  | { readonly kind: "stopped" };
