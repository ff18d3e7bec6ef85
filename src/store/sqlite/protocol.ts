import type { ErrorCode } from "../../core/errors.js";
import type {
  InboxCommand,
  LeaseRequest,
  NewInboxCommand,
  NewWorkflow,
  RegisteredWorkflow,
  RunFilter,
} from "../store.js";
import type { Cells, PackedAppend } from "./packed-rows.js";

/** What the database thread can be asked: the port's verbs over packed rows, lists of rows as one flat list. */
export interface ReadVerbs {
  readDefinition(hash: string): string | null;
  readFailureHandler(id: number): Cells | null;
  listFailureHandlers(workflowId: number | null): Cells;
  readRun(runId: number): Cells | null;
  listRuns(filter: RunFilter): Cells;
  readEvents(runId: number, afterSeq: number, limit: number | null): Cells;
  readJobs(runId: number): Cells;
  readAttempts(runId: number): Cells;
  readRoutes(runId: number): Cells;
  readLease(runId: number): Cells | null;
  readInbox(runIds: readonly number[]): InboxCommand[];
  readAnswer(id: number): string | null;
}

export interface WriteVerbs {
  registerWorkflow(workflow: NewWorkflow): RegisteredWorkflow;
  reserveRunId(): number;
  commit(appends: readonly PackedAppend[]): null;
  /** The new token, or the lease that stands in the way. */
  acquireLease(request: LeaseRequest): number | Cells;
  renewLease(runId: number, fence: number, expiresAt: number): boolean;
  releaseLease(runId: number, fence: number): null;
  sendCommand(command: NewInboxCommand): number;
  answerCommand(id: number, answer: string): null;
}

export interface ThreadVerbs extends ReadVerbs, WriteVerbs {
  /** The first call. */
  open(file: string): null;
  /** The last one. The thread ends by itself afterwards. */
  close(): null;
}

export type Verb = keyof ThreadVerbs;

export interface Request {
  readonly id: number;
  readonly verb: Verb;
  readonly args: readonly unknown[];
}

export type Response =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
    };
