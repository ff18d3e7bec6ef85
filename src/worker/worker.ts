import type { AttemptResult } from "../core/commands.js";
import type { ActionDefinition } from "../core/definition.js";
import type { FailureFacts } from "../core/failure.js";
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
  /** The attempt failed before it could begin: a template did not render. */
  readonly failedAlready: FailureFacts | null;
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
