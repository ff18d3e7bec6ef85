import type { LoggedEvent } from "../core/events.js";
import type { AttemptRow, FailureHandlerRow, JobRow, RouteRow, RunRow, RunStatus } from "../core/rows.js";

/**
 * The storage port. A store only persists: every rule lives in core. All methods are asynchronous and safe to call at
 * once. Times come from the caller; a store has no clock.
 */
export interface Store {
  /**
   * Keep a definition once by its hash and give the workflow of that name its next version if the hash is new, with its
   * failure handlers; else version and handlers are the ones that are there.
   */
  registerWorkflow(workflow: NewWorkflow): Promise<RegisteredWorkflow>;
  readDefinition(hash: string): Promise<string | null>;
  readFailureHandler(id: number): Promise<FailureHandlerRow | null>;
  /** By id; of all workflows unless one is named. */
  listFailureHandlers(workflowId?: number): Promise<FailureHandlerRow[]>;

  /** A run id that nobody else gets. The run exists only once its first commit is in. */
  reserveRunId(): Promise<number>;
  /**
   * All of these appends in ONE transaction, or none. Each must carry the run's current fencing token and go on
   * exactly where its log ends; else the whole call fails with LEASE_LOST. A durable store has synced when it answers.
   */
  commit(appends: readonly Append[]): Promise<void>;

  readRun(runId: number): Promise<RunRow | null>;
  listRuns(filter: RunFilter): Promise<RunRow[]>;
  readEvents(runId: number, range?: { afterSeq?: number; limit?: number }): Promise<LoggedEvent[]>;
  readJobs(runId: number): Promise<JobRow[]>;
  readAttempts(runId: number): Promise<AttemptRow[]>;
  readRoutes(runId: number): Promise<RouteRow[]>;

  /**
   * Take the run for `owner`. Free, expired (`expiresAt <= now`) or owned by the same owner: granted with a new, higher
   * fencing token. Else refused with the present lease. `evenFrom` names the token of a lease whose owner is known to
   * be dead; it is then replaced at once.
   */
  acquireLease(
    request: LeaseRequest,
  ): Promise<{ granted: true; fence: number } | { granted: false; lease: Lease }>;
  /** False: the lease is no longer ours. */
  renewLease(runId: number, fence: number, expiresAt: number): Promise<boolean>;
  releaseLease(runId: number, fence: number): Promise<void>;
  readLease(runId: number): Promise<Lease | null>;

  /** Put a command for the owner of a run into its inbox. A key that is there already answers with that entry's id. */
  sendCommand(command: NewInboxCommand): Promise<number>;
  /** Unanswered commands of these runs, oldest first. */
  readInbox(runIds: readonly number[]): Promise<InboxCommand[]>;
  answerCommand(id: number, answer: string): Promise<void>;
  readAnswer(id: number): Promise<string | null>;

  close(): Promise<void>;
}

export interface NewWorkflow {
  readonly name: string;
  readonly hash: string;
  /** The Definition as JSON. */
  readonly definition: string;
  readonly file: string | null;
  readonly at: number;
  /** No two of one name. */
  readonly failureHandlers: readonly Pick<FailureHandlerRow, "name" | "rules">[];
}

export interface RegisteredWorkflow {
  readonly workflowId: number;
  readonly version: number;
  /** In the order in which they were given. */
  readonly failureHandlers: readonly Pick<FailureHandlerRow, "id" | "name">[];
}

export interface Append {
  readonly runId: number;
  readonly fence: number;
  /** The sequence number of the first event here; the log must end just before it (the first of a run is 1). */
  readonly firstSeq: number;
  readonly events: readonly SerialisedEvent[];
  /** Present where it changed; always in a run's first append. */
  readonly run: RunRow | null;
  /** Upserts by id. */
  readonly jobs: readonly JobRow[];
  /** Upserts by job and attempt. */
  readonly attempts: readonly AttemptRow[];
  readonly routes: readonly RouteRow[];
}

/** `data` is the event as JSON, made once by the engine. */
export interface SerialisedEvent {
  readonly at: number;
  readonly type: string;
  readonly data: string;
}

export interface RunFilter {
  readonly status?: readonly RunStatus[];
  readonly workflow?: string;
  /** Child runs of this job. */
  readonly parentJob?: number;
  readonly limit?: number;
  readonly beforeId?: number;
}

/** Newest first where rows are listed. */
export interface LeaseRequest {
  readonly runId: number;
  readonly owner: LeaseOwner;
  readonly now: number;
  readonly expiresAt: number;
  readonly evenFrom?: number;
}

/** Who holds a run: enough for another process of the same host to see whether it still lives. */
export interface LeaseOwner {
  readonly host: string;
  readonly bootId: string;
  readonly pid: number;
  readonly processStart: string;
  /** Unique to one engine in one process. */
  readonly engine: string;
}

export interface Lease {
  readonly owner: LeaseOwner;
  readonly fence: number;
  readonly expiresAt: number;
}

export interface NewInboxCommand {
  readonly runId: number;
  readonly key: string;
  /** The command as JSON. */
  readonly command: string;
  readonly at: number;
}

export interface InboxCommand {
  readonly id: number;
  readonly runId: number;
  readonly command: string;
}
