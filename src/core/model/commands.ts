import type { Json } from "../text/json.js";
import {
  type Fields,
  fitsFields,
  flag,
  jobId,
  list,
  nullable,
  number,
  type Of,
  type OfFields,
  object,
  optional,
  type Shape,
  text,
} from "../text/shape.js";
import type {
  EvaluationResult,
  KeptFiles,
  KeptLeftover,
  MovedCheckpoint,
  ReusedJob,
  UnparkReason,
  WorkspaceHome,
  WorkspaceNote,
} from "./events.js";
import { FILES_POLICY, HOLD_ACTION, OUTPUT, SCOPE_ITEM } from "./events.js";
import type { Outcome } from "./outcome.js";
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
      readonly outcome: Outcome;
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
      readonly others?: KeptFiles | null;
      readonly previous?: string | null;
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
      readonly outcome: Outcome;
      /** Those of the step's breakers that are open. */
      readonly breakers?: readonly OpenBreaker[];
    }
  /** The program of a flow calls a step. */
  | {
      readonly type: "step.declare";
      readonly by: number;
      readonly attempt: number;
      readonly scope: string;
      readonly step: string;
      readonly definition: { readonly [key: string]: Json };
      readonly repairs: readonly { readonly [key: string]: Json }[];
      /** For a map: the keys of its items. */
      readonly items?: readonly string[];
      readonly after: number;
      readonly source: string | null;
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
  /** A moment of the run itself: its deadline, or the time to warn that it takes long. */
  | { readonly type: "time.reach"; readonly at: number }
  | {
      readonly type: "evaluation.finish";
      readonly job: number;
      readonly id: number;
      readonly result: EvaluationResult;
    };

const ASKING = { reason: text, key: nullable(text) } as const;
/** `hint`: text for the step that is to work again, redacted. */
const ASKING_STEP = { ...ASKING, hint: optional(text) } as const;
const AMOUNTS: Shape<Amounts> = object({ memoryBytes: optional(number), runtimeMs: optional(number) });

/** A job that is to run again, and what it has from then on. */
const RECOVERED_JOB = object({ job: jobId, amounts: optional(AMOUNTS) });
export type RecoveredJob = Of<typeof RECOVERED_JOB>;

const HOLD_DECISION = object({
  job: jobId,
  action: HOLD_ACTION,
  /** For `complete`. */
  output: nullable(OUTPUT),
  items: nullable(list(SCOPE_ITEM)),
  /** For `retry`: the job's resources from then on. */
  amounts: optional(AMOUNTS),
  /** Instead of the command's. */
  reason: optional(text),
  /** For `retry`: a hint to the step. */
  hint: optional(text),
});
export type HoldDecision = Of<typeof HOLD_DECISION>;

/** What a person or an agent asks of a run. The same key is taken once, however often it arrives. */
const OPERATOR_COMMANDS = {
  /** `now`: without undoing anything and without `finally`; what of that is under way ends. */
  "run.cancel": { now: optional(flag), ...ASKING },
  "run.pause": { takeover: optional(flag), job: optional(jobId), ...ASKING_STEP },
  "run.unpause": ASKING,
  "step.retry": {
    job: jobId,
    /** Others that run again with it: all of them or none. */
    also: optional(list(jobId)),
    /**
     * Only a job that failed or was canceled, and that has had fewer attempts in all. Nothing then begins more: not a
     * rule, a retry nor any other rung.
     */
    maxAttempts: optional(number),
    /** A job that cannot simply run again is gone back to: this is `step.resume_from` then. */
    force: optional(flag),
    ...ASKING_STEP,
  },
  /** `force`, here and below: although a step is at work in the workspace. */
  "step.resume_from": {
    job: jobId,
    force: optional(flag),
    /** What happens to the workspace's files. By default they are restored. */
    files: optional(FILES_POLICY),
    ...ASKING_STEP,
  },
  /** Once more in a fresh workspace, at once. */
  "step.hard_reset": { job: jobId, force: optional(flag), ...ASKING_STEP },
  /** A dead letter goes back into the queue. */
  "step.redrive": { job: jobId, ...ASKING_STEP },
  "run.reset": ASKING_STEP,
  /** These jobs run again, with what they are given; all of them or none. */
  "jobs.recover": { items: list(RECOVERED_JOB), ...ASKING },
  "holds.resolve": { items: list(HOLD_DECISION), ...ASKING },
  "human.answer": {
    job: jobId,
    choice: text,
    text,
    reason: optional(text),
    key: nullable(text),
  },
} as const satisfies { readonly [type: string]: Fields };

type OperatorType = keyof typeof OPERATOR_COMMANDS;
type CommandOf<type extends OperatorType> = type extends OperatorType
  ? { readonly type: type; readonly by?: string } & OfFields<(typeof OPERATOR_COMMANDS)[type]>
  : never;
/** `by`: who asks. */
export type OperatorCommand = CommandOf<OperatorType>;

/** A command as a program gives it: `undefined` is as good as left out, and neither a key nor a reason is needed. */
export type OperatorRequest = Given<OperatorCommand>;
type Given<Command> = Command extends OperatorCommand
  ? WithNames<
      Optional<Omit<Command, "key" | "reason">> & {
        readonly key?: string | null | undefined;
        readonly reason?: string | undefined;
      }
    >
  : never;
/** A job is named by its id, its step or `step@scope`. */
type WithNames<T> = {
  readonly [K in keyof T]: K extends "job" | "also"
    ? Named<T[K]>
    : K extends "items"
      ? NamedItems<T[K]>
      : T[K];
};
type Named<T> = T extends number
  ? number | string
  : T extends readonly number[]
    ? readonly (number | string)[]
    : T;
type NamedItems<T> = T extends readonly (infer Item)[] ? readonly NamedItem<Item>[] : T;
/** What may be null may be left out. */
type NamedItem<T> = {
  readonly [K in keyof T as null extends T[K] ? never : K]: K extends "job" ? number | string : T[K];
} & { readonly [K in keyof T as null extends T[K] ? K : never]?: T[K] | undefined };
type Optional<T> = { [K in keyof T]: Record<never, never> extends Pick<T, K> ? T[K] | undefined : T[K] };

export const OPERATOR_TYPES = Object.keys(OPERATOR_COMMANDS) as readonly OperatorType[];

const BY: Fields = { by: optional(text) };

/** The fields of a type of command, and those that a value lacks or has wrong. */
export function commandFields(
  type: OperatorType,
  value: { readonly [name: string]: unknown },
): {
  readonly known: readonly string[];
  readonly needed: readonly string[];
  readonly wrong: readonly string[];
} {
  const fields: Fields = OPERATOR_COMMANDS[type];
  const names = Object.keys(fields);
  return {
    known: ["type", "by", ...names],
    needed: names.filter((name) => !("optional" in fields[name]!)),
    wrong: names.filter((name) => !fitsFields({ [name]: fields[name]! }, value)),
  };
}

/** Another process may have left anything. */
export function isOperatorCommand(value: unknown): value is OperatorCommand {
  const type = (value as { readonly type?: unknown } | null)?.type;
  if (typeof type !== "string" || !Object.hasOwn(OPERATOR_COMMANDS, type)) return false;
  return fitsFields({ ...OPERATOR_COMMANDS[type as OperatorType], ...BY }, value);
}

export interface OpenBreaker {
  readonly name: string;
  readonly classes: readonly string[];
}
