import type { AttemptResult } from "../core/commands.js";
import type { UpstreamText } from "../core/context-assembly.js";
import type { ActionDefinition, ResourceRequirements } from "../core/definition.js";
import type { ClassifiedFailure, FailureFacts } from "../core/failure.js";
import type { Json } from "../core/json.js";

/** One attempt handed to a worker: everything it needs, templates rendered. */
export interface Assignment {
  readonly runId: number;
  readonly workflowId: number;
  readonly jobId: number;
  readonly stepId: string;
  readonly attempt: number;
  readonly token: string;
  readonly startedAt: number;
  readonly action: ActionDefinition;
  /** The file's and the step's own variables; the worker puts its environment below and DARUMA_* above them. */
  readonly env: { readonly [name: string]: string };
  readonly secrets: readonly string[];
  readonly cwd: string;
  readonly variables: { readonly [name: string]: Json };
  readonly timeoutMs: number | null;
  readonly idleTimeoutMs: number | null;
  readonly killGraceMs: number;
  readonly outputSchema: Json | null;
  readonly resources: ResourceRequirements | null;
  /** A command that sums up a failed attempt, instead of the built-in summary. */
  readonly summarize: string | null;
  /** Exit code of the failure before this attempt; for a recovery script that of the failed attempt. */
  readonly returnCode: number | null;
  /** This is a recovery script, not an attempt: its logs have names of their own. */
  readonly recovery: boolean;
  /** The failure that a transition brought here. */
  readonly failureSource: FailureSource | null;
  /** For actions that are told something in words: what goes into their prompt beside their own keys. */
  readonly promptMaterial?: PromptMaterial;
  /** The attempt failed before it could begin: a template did not render. */
  readonly failedAlready: FailureFacts | null;
}

export interface PromptMaterial {
  /** What the whole run is for, unless the step has an objective of its own. */
  readonly objective: string;
  /** What its dependencies gave, but for those whose outputs its prompt names itself. */
  readonly upstream: readonly UpstreamText[];
  readonly retry: RetryMaterial | null;
}

/** The failed attempt before this one, in the same visit. */
export interface RetryMaterial {
  readonly attempt: number;
  readonly failure: ClassifiedFailure;
  readonly signature: string;
  /** Of a workspace step: what the failed attempt had changed. */
  readonly changedFiles?: readonly string[];
  readonly diffHash?: string;
  /** What the failed attempt ran, unless the action's own keys say it. */
  readonly lastCommand?: string;
}

/** Where a failure came from, for the context that goes with it. */
export interface FailureSource {
  readonly workflowId: number;
  readonly runId: number;
  readonly jobId: number;
  readonly attempt: number;
  readonly step: string;
  readonly target: string;
  readonly edge: number;
  readonly failure: ClassifiedFailure;
  readonly maxRetries: number;
  readonly retriesUsed: number;
  /** What the target's own dependencies gave, for the room that the failure leaves. */
  readonly upstream: readonly UpstreamText[];
}

export interface Report {
  readonly result: AttemptResult;
  readonly durationMs: number;
}

/** Executes attempts. The engine decides, a worker does. */
export interface Worker {
  readonly name: string;
  /** How many attempts it takes at once. */
  readonly capacity: number;
  /** Settles once, never rejects. Aborting the signal ends the attempt's processes. */
  execute(assignment: Assignment, signal: AbortSignal): Promise<Report>;
  /** End what an attempt that is to be declared lost may have left running on this host. */
  endLeftovers(token: string): Promise<void>;
  close(): Promise<void>;
}
