import {
  json,
  just,
  list,
  nullable,
  number,
  type OfFields,
  object,
  one,
  optional,
  record,
} from "../text/shape.js";
import {
  type AttemptCost,
  type CheckpointFacts,
  FILE_FACTS,
  OUTPUT,
  type Output,
  PROCESS_USAGE,
  SCOPE_ITEM,
  TOKEN_USAGE,
  type TokenUsage,
  type UncleanChild,
} from "./events.js";
import { FAILURE_FACTS, type FailureFacts } from "./failure.js";

const COST = {
  /** Missing: it never began, or nobody has looked at a clock. */
  duration_ms: optional(number),
  /** What the attempt's processes used; missing where nobody can tell. */
  used: optional(PROCESS_USAGE),
} as const;

const SUCCEEDED = {
  kind: just("succeeded"),
  output: OUTPUT,
  /** For an output that is an array. */
  items: optional(nullable(list(SCOPE_ITEM))),
  /** Token usage of a model call. */
  usage: optional(TOKEN_USAGE),
  /** For a step that declares any. */
  files: optional(list(FILE_FACTS)),
  /** For a job that writes any. */
  user_data: optional(record(json)),
  ...COST,
} as const;

const FAILED = {
  kind: just("failed"),
  facts: object(FAILURE_FACTS),
  /** What it gave all the same. */
  output: optional(OUTPUT),
  ...COST,
} as const;

/** The attempt was ended because the engine asked for it. */
const STOPPED = { kind: just("stopped"), ...COST } as const;

/** What a worker may say of an attempt that has ended. */
export const OUTCOME = one("kind", object(SUCCEEDED), object(FAILED), object(STOPPED));

/** What only the process knows that executed the attempt, or has the workspace. */
interface Here {
  /** When the exit of its process was collected, by that process's monotonic clock; missing: it had none. */
  readonly exitedAt?: number;
  /** Token usage of a model call, however it ended. */
  readonly usage?: TokenUsage;
}

export interface Succeeded<Out = Output> extends Omit<OfFields<typeof SUCCEEDED>, "output">, Here {
  readonly output: Out;
  /** For a step of the workspace. */
  readonly checkpoint?: CheckpointFacts | null;
  /** What it left, as that of a failed attempt: `fail_if` may make one of it. */
  readonly patch?: string | null;
  /** For a child run that completed, though not all in it was mended. */
  readonly below?: UncleanChild;
}

export interface Failed<Out = Output> extends Omit<OfFields<typeof FAILED>, "facts" | "output">, Here {
  readonly facts: FailureFacts;
  readonly output?: Out;
}

export type Stopped = OfFields<typeof STOPPED> & Here;
/** Of the program of a flow, which only the engine's own process executes: it waits for these jobs, and need not be in memory. */
export interface Suspended extends Omit<Stopped, "kind"> {
  readonly kind: "suspended";
  readonly awaits: readonly number[];
}

/** What is said of an attempt that has ended: one shape from its action to the core. */
export type Outcome<Out = Output> = Succeeded<Out> | Failed<Out> | Stopped | Suspended;

/** The attempt with this failure as its outcome. */
export function failedWith(facts: FailureFacts, outcome: Outcome): Failed {
  return { kind: "failed", facts, ...tookOf(outcome) };
}

/** Adds a remark to what is said of a failure. */
export function withRemark({ said = "", ...facts }: FailureFacts, remark: string): FailureFacts {
  return said === "" ? { ...facts, message: facts.message + remark } : { ...facts, said: said + remark };
}

/** The attempt as stopped. */
export function stoppedAs(outcome: Outcome): Outcome {
  return { kind: "stopped", ...tookOf(outcome) };
}

function tookOf({ duration_ms, used }: Outcome): OfFields<typeof COST> {
  return {
    ...(duration_ms === undefined ? {} : { duration_ms }),
    ...(used === undefined ? {} : { used }),
  };
}

/** The cost as an event records it. */
export function costOf({ duration_ms = 0, used }: Outcome): AttemptCost {
  return { duration_ms, ...used };
}
