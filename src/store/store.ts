import type { BookRow } from "../core/book/book.js";
import type { EventType, LoggedEvent } from "../core/model/events.js";
import type {
  AttemptRow,
  CheckpointRow,
  FailureHandlerRow,
  JobRow,
  RouteRow,
  RunRow,
} from "../core/model/rows.js";
import type { Notice } from "../core/notices/notice.js";
import { type Fields, id, nullable, type OfFields, text, time } from "../core/text/shape.js";
import type { BookStore } from "./book-rows.js";
import type { CampaignStore } from "./campaign-rows.js";
import type { ClusterStore } from "./cluster-rows.js";
import type { CountStore } from "./counts.js";
import type { JobFilter, RunFilter } from "./filters.js";
import type { GroupSlotStore } from "./group-slots.js";
import type { StoreInspection } from "./inspect/store-inspection.js";
import type { OutboxStore } from "./outbox-rows.js";
import type { ServerStore } from "./server-rows.js";
import type { SharedStore } from "./shared-rows.js";
import type { CredentialStore } from "./token-rows.js";
import type { UnansweredJob } from "./unanswered.js";

/**
 * The storage port. A store only persists: every rule is in core. All methods are asynchronous and may be called
 * concurrently. Times come from the caller. Only leases may use a clock of the store's own, because several machines
 * ask for them: of `now` and `expiresAt` only the difference counts then.
 */
export interface Store
  extends ClusterStore,
    BookStore,
    CountStore,
    CampaignStore,
    ServerStore,
    SharedStore,
    OutboxStore,
    GroupSlotStore,
    CredentialStore {
  /**
   * Stores a definition once by its hash. If the hash is new, the workflow of that name gets its next version, with its
   * failure handlers; otherwise returns the existing ones.
   */
  registerWorkflow(workflow: NewWorkflow): Promise<RegisteredWorkflow>;
  readDefinition(hash: string): Promise<string | null>;
  /** The text from which a definition was first read; null if none was kept. */
  readWritten(hash: string): Promise<string | null>;
  readFailureHandler(id: number): Promise<FailureHandlerRow | null>;
  /** Lists handlers by id, of all workflows unless one is named. */
  listFailureHandlers(workflowId?: number): Promise<FailureHandlerRow[]>;

  /**
   * For each workflow, the newest published version, or else the newest. With a name, all its versions, newest first.
   */
  listWorkflows(filter: WorkflowFilter): Promise<WorkflowRow[]>;
  readWorkflow(id: number): Promise<WorkflowRow | null>;
  /**
   * Saves a draft: a text that no run uses yet, one per name. The revision that it is based on must still be the
   * present one.
   */
  saveDraft(
    draft: NewDraft,
  ): Promise<{ saved: true; draft: DraftRow } | { saved: false; draft: DraftRow | null }>;
  readDraft(name: string): Promise<DraftRow | null>;
  /** By name. */
  listDrafts(): Promise<DraftRow[]>;
  deleteDraft(name: string): Promise<void>;

  /** Reserves a run id that nobody else gets. The run exists only after its first commit. */
  reserveRunId(): Promise<number>;
  /**
   * Writes all of these appends in ONE transaction, or none. Each must have the run's present fencing token and
   * continue exactly at the end of its log; otherwise the whole call fails with LEASE_LOST. A new run must not have the
   * cause of another, which fails with CAUSE_TAKEN. A run of a group that begins or is reopened must have a place or
   * find a free one; otherwise it fails with GROUP_BUSY. A durable store has synced when it answers.
   */
  commit(appends: readonly Append[]): Promise<void>;

  readRun(runId: number): Promise<RunRow | null>;
  listRuns(filter: RunFilter): Promise<RunRow[]>;
  readEvents(runId: number, range?: EventRange): Promise<LoggedEvent[]>;
  readJobs(runId: number): Promise<JobRow[]>;
  readJob(id: number): Promise<JobRow | null>;
  /** The names of a run's jobs, by id. */
  readJobNames(runId: number, range?: JobNameRange): Promise<JobName[]>;
  /**
   * Lists jobs of all runs, by id, after `afterId`. If all given statuses are unsettled, only unfinished runs count,
   * unless a run is named.
   */
  listJobs(filter: JobFilter): Promise<JobRow[]>;
  /** Lists jobs of all runs that need a person, newest first. */
  listUnanswered(limit: number): Promise<UnansweredJob[]>;
  /** Reads the attempts of all jobs of the run, or of one. */
  readAttempts(runId: number, jobId?: number): Promise<AttemptRow[]>;
  readRoutes(runId: number): Promise<RouteRow[]>;
  /** By ordinal. */
  readCheckpoints(runId: number): Promise<CheckpointRow[]>;
  /** Stores the patch of a checkpoint of an existing run. An existing patch with the same hash is not changed. */
  putPatch(patch: StoredPatch): Promise<void>;
  readPatch(runId: number, diffHash: string): Promise<Uint8Array | null>;
  /** Stores the state of an existing run at one event, replacing an earlier snapshot. It is deleted with its run. */
  putSnapshot(snapshot: StoredSnapshot): Promise<void>;
  readSnapshot(runId: number): Promise<StoredSnapshot | null>;

  /**
   * Takes the run for `owner`. If it is free, expired (`expiresAt <= now`, on the clock that the store uses for leases)
   * or held by the same owner, it is granted with a new, higher fencing token. Otherwise it is refused with the present
   * lease. `evenFrom` names the token of a lease whose owner is known to be dead, which is then replaced at once.
   */
  acquireLease(
    request: LeaseRequest,
  ): Promise<{ granted: true; fence: number } | { granted: false; lease: Lease }>;
  /**
   * Renews all of these at once, for `expiresAt - now` from this moment. Returns the runs whose lease is no longer
   * ours. An expired lease that nobody took is ours again.
   */
  renewLeases(leases: readonly HeldLease[], now: number, expiresAt: number): Promise<number[]>;
  releaseLease(runId: number, fence: number): Promise<void>;
  readLease(runId: number): Promise<Lease | null>;
  /** How each of these runs was last held, including released leases. Runs that nobody ever held are left out. */
  readLastLeases(runIds: readonly number[]): Promise<LastLease[]>;
  /**
   * Takes runs that want an engine (`run.wanted`, or `run.wanted_at` has come by `now`) and have none: no lease, an
   * expired one, or one of an owner known to be dead. Concurrent callers never get the same run and never wait for each
   * other. A managed run that waits for a place in its group is taken when it is its turn, together with the place.
   * Higher priorities come first.
   */
  claimRuns(request: ClaimRequest): Promise<HeldLease[]>;
  /**
   * Lists each holder of a run that wants an engine or waits for a place, once. An expired lease counts until somebody
   * takes it.
   */
  listOwners(): Promise<HoldingOwner[]>;

  /** Stores this owner's runs that wait for a worker which it does not have, replacing the earlier list. */
  putWaiting(owner: LeaseOwner, runs: readonly WaitingRun[]): Promise<void>;
  /** Other owners' waiting runs whose lease has not changed since they were listed, by id. */
  listWaiting(owner: LeaseOwner): Promise<WaitingRun[]>;
  /**
   * Takes a waiting run from its living owner, with a new, higher token. Null if the owner has written to it since, or
   * somebody else has it by now. The taker has a suitable worker, so the previous owner need not release the run.
   */
  takeWaiting(run: WaitingRun, request: Omit<LeaseRequest, "runId" | "evenFrom">): Promise<HeldLease | null>;

  /** Puts a command for a run's owner into its inbox. If the key exists already, returns that entry's id. */
  sendCommand(command: NewInboxCommand): Promise<number>;
  /** Reads unanswered commands of these runs, oldest first. */
  readInbox(runIds: readonly number[]): Promise<InboxCommand[]>;
  answerCommand(id: number, answer: string): Promise<void>;
  readAnswer(id: number): Promise<string | null>;
  /** Deletes this run's commands from before this time, answered or not. */
  forgetCommands(runId: number, before: number): Promise<void>;

  /**
   * Deletes everything of a finished run in one transaction. The failure book keeps what it has counted. Returns false
   * if the run is not finished, or somebody holds its lease.
   */
  deleteRun(runId: number): Promise<boolean>;

  /**
   * Calls the listener after something was committed: always for this store object, for others if the database can
   * notify (PostgreSQL). A change may come twice or, after a lost connection, not at all, so a listener must look for
   * itself.
   */
  onChange(listener: (change: StoreChange) => void): () => void;
  /** Inspects the store while others continue to use it. With `full` it is checked however large it is. */
  inspect(full: boolean): Promise<StoreInspection>;
  /** Rejects if the store takes no writes. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * `events`: a run's log grew. `inbox`: a command waits for the run's owner. `wanted`: a run wants an engine, waits for
 * a place in its group, or has left one. `revoked`: some token was revoked (run 0). `shared`: shared state has changed
 * (run 0).
 */
export interface StoreChange {
  readonly kind: "events" | "inbox" | "answer" | "wanted" | "revoked" | "shared";
  readonly runId: number;
}

export interface WorkflowFilter {
  readonly name?: string;
  readonly limit?: number;
  /** Workflows with a smaller id. */
  readonly beforeId?: number;
}

/** One version of a workflow. */
export const WORKFLOW_ROW = {
  id,
  name: text,
  version: id,
  definition_hash: text,
  file: nullable(text),
  created_at: time,
  /** The text that it was published from; null if `run FILE` registered it. */
  source: nullable(text),
} as const satisfies Fields;
export type WorkflowRow = OfFields<typeof WORKFLOW_ROW>;

export interface DraftRow {
  readonly name: string;
  readonly source: string;
  /** Begins with 1 and increases with each save. */
  readonly revision: number;
  readonly updated_at: number;
}

export interface NewDraft {
  readonly name: string;
  readonly source: string;
  /** 0 if no draft may exist yet. Null replaces any existing draft. */
  readonly basedOn: number | null;
  readonly at: number;
}

export interface EventRange {
  readonly afterSeq?: number;
  readonly limit?: number;
  /** Only events about this job alone. */
  readonly job?: number;
  /** Only events of these types. */
  readonly types?: readonly EventType[];
}

export type JobName = Pick<JobRow, "id" | "step" | "scope">;

export interface JobNameRange {
  readonly afterId?: number;
  readonly limit?: number;
  /** Only jobs of this step. */
  readonly step?: string;
}

export interface ClaimRequest {
  readonly owner: LeaseOwner;
  readonly now: number;
  readonly expiresAt: number;
  readonly limit: number;
  /** Runs that this owner cannot continue. */
  readonly except?: readonly number[];
  /** Owners whose processes are gone for good, so their runs are free. */
  readonly deadOwners?: readonly LeaseOwner[];
}

export interface NewWorkflow {
  readonly name: string;
  readonly hash: string;
  /** The definition as JSON. */
  readonly definition: string;
  readonly file: string | null;
  /** The text that it is published from. For an existing hash, it is stored if there was none. */
  readonly source?: string;
  /**
   * The text that the definition was read from, published or not. It is stored with the definition if there was none.
   */
  readonly written?: string;
  readonly at: number;
  /** Names must be unique. */
  readonly failureHandlers: readonly Pick<FailureHandlerRow, "name" | "rules">[];
}

export interface RegisteredWorkflow {
  readonly workflowId: number;
  readonly version: number;
  /** In the given order. */
  readonly failureHandlers: readonly Pick<FailureHandlerRow, "id" | "name">[];
}

export interface Append {
  readonly runId: number;
  readonly fence: number;
  /** The sequence number of the first event. The log must end just before it (a run's first event is 1). */
  readonly firstSeq: number;
  readonly events: readonly SerialisedEvent[];
  /** Present if it changed, and in a run's first append. */
  readonly run: RunRow | null;
  /** Upserts by id. */
  readonly jobs: readonly JobRow[];
  /** Upserts by job and attempt. */
  readonly attempts: readonly AttemptRow[];
  readonly routes: readonly RouteRow[];
  /** Upserts by ordinal; most appends have none. */
  readonly checkpoints?: readonly CheckpointRow[];
  /** Rows for the failure book. An existing one is not changed. */
  readonly book?: readonly BookRow[];
  /** Notices for people. An existing one is not changed. */
  readonly outbox?: readonly Notice[];
}

/** The compressed changes of a checkpoint. The hash covers the content, so everybody who writes it writes the same. */
export interface StoredPatch {
  readonly runId: number;
  readonly diffHash: string;
  readonly bytes: Uint8Array;
}

/** A snapshot. The store neither reads nor trusts it: the reader verifies it, and uses the log if it is unusable. */
export interface StoredSnapshot {
  readonly runId: number;
  /** The last event that it includes. */
  readonly seq: number;
  readonly version: string;
  /** The hash of the bytes. */
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** `data` is the event as JSON, made once by the engine. */
export interface SerialisedEvent {
  readonly at: number;
  readonly type: string;
  readonly data: string;
}

/** A request for a lease. */
export interface LeaseRequest {
  readonly runId: number;
  readonly owner: LeaseOwner;
  readonly now: number;
  readonly expiresAt: number;
  readonly evenFrom?: number;
}

/** The holder of a run, in enough detail for another process of the host to see whether it still lives. */
export interface LeaseOwner {
  readonly host: string;
  readonly bootId: string;
  readonly pid: number;
  readonly processStart: string;
  /** Unique to one engine in one process. */
  readonly engine: string;
  /** Holds the run only for an operator's decision and does not continue it. */
  readonly decides?: true;
}

export interface HoldingOwner {
  readonly owner: LeaseOwner;
  /** The latest end of its leases in the store. Only a change of it matters: it means that the owner lives. */
  readonly mark: number;
}

/** A run with the token of its lease. */
export interface HeldLease {
  readonly runId: number;
  readonly fence: number;
}

/** A run in which nothing runs, although something could if its owner had a worker for it. */
export interface WaitingRun extends HeldLease {
  /** The last event of its log at that time. */
  readonly seq: number;
  /** What it requires of a worker and of a server, as JSON. */
  readonly asks: string;
}

export interface Lease {
  readonly owner: LeaseOwner;
  readonly fence: number;
  /** On the caller's clock, whatever clock the store uses, so it may be compared with the caller's present time. */
  readonly expiresAt: number;
}

/** A lease that may be over. `owner` is null if it was released, and `expiresAt` is when it would have expired. */
export interface LastLease {
  readonly runId: number;
  readonly owner: LeaseOwner | null;
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
