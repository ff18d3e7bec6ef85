import type { BookRow } from "../core/book/book-row.js";
import type { EventType, LoggedEvent } from "../core/model/events.js";
import type {
  AttemptRow,
  CheckpointRow,
  FailureHandlerRow,
  JobRow,
  RouteRow,
  RunRow,
} from "../core/model/rows.js";
import type { Notice } from "../core/notify/notice.js";
import { type Fields, id, nullable, type OfFields, text, time } from "../core/text/shape.js";
import type { BookStore } from "./book-rows.js";
import type { CampaignStore } from "./campaign-rows.js";
import type { ClusterStore } from "./cluster-rows.js";
import type { CountStore } from "./counts.js";
import type { JobFilter, RunFilter } from "./filters.js";
import type { StoreInspection } from "./inspect/store-inspection.js";
import type { OutboxStore } from "./outbox-rows.js";
import type { PlaceStore } from "./places.js";
import type { ServerStore } from "./server-rows.js";
import type { SharedStore } from "./shared-rows.js";
import type { CredentialStore } from "./token-rows.js";
import type { UnansweredJob } from "./unanswered.js";

/**
 * The storage port. A store only persists: every rule lives in core. All methods are asynchronous and safe to call at
 * once. Times come from the caller. Leases alone may be held against a clock of the store's own, as several machines
 * ask for them: of `now` and `expiresAt` only the time between them counts then.
 */
export interface Store
  extends ClusterStore,
    BookStore,
    CountStore,
    CampaignStore,
    ServerStore,
    SharedStore,
    OutboxStore,
    PlaceStore,
    CredentialStore {
  /**
   * Keep a definition once by its hash and give the workflow of that name its next version if the hash is new, with its
   * failure handlers; else version and handlers are the ones that are there.
   */
  registerWorkflow(workflow: NewWorkflow): Promise<RegisteredWorkflow>;
  readDefinition(hash: string): Promise<string | null>;
  /** The text that a definition was first read from; null: none was kept. */
  readWritten(hash: string): Promise<string | null>;
  readFailureHandler(id: number): Promise<FailureHandlerRow | null>;
  /** By id; of all workflows unless one is named. */
  listFailureHandlers(workflowId?: number): Promise<FailureHandlerRow[]>;

  /**
   * Of each workflow the newest published version, or if none is published the newest. Where a name is given all its
   * versions, newest first.
   */
  listWorkflows(filter: WorkflowFilter): Promise<WorkflowRow[]>;
  readWorkflow(id: number): Promise<WorkflowRow | null>;
  /** A text under work that no run uses yet; one a name. The revision it is based on must still be the present one. */
  saveDraft(
    draft: NewDraft,
  ): Promise<{ saved: true; draft: DraftRow } | { saved: false; draft: DraftRow | null }>;
  readDraft(name: string): Promise<DraftRow | null>;
  /** By name. */
  listDrafts(): Promise<DraftRow[]>;
  deleteDraft(name: string): Promise<void>;

  /** A run id that nobody else gets. The run exists only once its first commit is in. */
  reserveRunId(): Promise<number>;
  /**
   * All of these appends in ONE transaction, or none. Each must carry the run's current fencing token and go on
   * exactly where its log ends; else the whole call fails with LEASE_LOST. A new run must not have the cause of another;
   * else it fails with CAUSE_TAKEN. A run of a group that begins or is reopened must have a place or find a free one; else
   * it fails with GROUP_BUSY. A durable store has synced when it answers.
   */
  commit(appends: readonly Append[]): Promise<void>;

  readRun(runId: number): Promise<RunRow | null>;
  listRuns(filter: RunFilter): Promise<RunRow[]>;
  readEvents(runId: number, range?: EventRange): Promise<LoggedEvent[]>;
  readJobs(runId: number): Promise<JobRow[]>;
  readJob(id: number): Promise<JobRow | null>;
  /** What the jobs of a run are called, by id. */
  readJobNames(runId: number, range?: JobNameRange): Promise<JobName[]>;
  /** Across runs, by id, after `afterId`. Statuses that are all unsettled: of runs not over, unless one is named. */
  listJobs(filter: JobFilter): Promise<JobRow[]>;
  /** Jobs of all runs that somebody should look at, newest first. */
  listUnanswered(limit: number): Promise<UnansweredJob[]>;
  /** Of all jobs of the run, or of one. */
  readAttempts(runId: number, jobId?: number): Promise<AttemptRow[]>;
  readRoutes(runId: number): Promise<RouteRow[]>;
  /** By ordinal. */
  readCheckpoints(runId: number): Promise<CheckpointRow[]>;
  /** The patch of a checkpoint of a run that is on record. One that is there under the same hash stays as it is. */
  putPatch(patch: StoredPatch): Promise<void>;
  readPatch(runId: number, diffHash: string): Promise<Uint8Array | null>;
  /** What a run that is on record was at one event, in place of the one before. It goes with its run. */
  putSnapshot(snapshot: StoredSnapshot): Promise<void>;
  readSnapshot(runId: number): Promise<StoredSnapshot | null>;

  /**
   * Take the run for `owner`. Free, expired (`expiresAt <= now`, on the clock that the store holds leases against) or owned by the same owner: granted with a new, higher
   * fencing token. Else refused with the present lease. `evenFrom` names the token of a lease whose owner is known to
   * be dead; it is then replaced at once.
   */
  acquireLease(
    request: LeaseRequest,
  ): Promise<{ granted: true; fence: number } | { granted: false; lease: Lease }>;
  /**
   * All of them at once, for `expiresAt - now` from this moment. Answers with the runs whose lease is no longer ours;
   * one that has run out and that nobody took is ours again.
   */
  renewLeases(leases: readonly HeldLease[], now: number, expiresAt: number): Promise<number[]>;
  releaseLease(runId: number, fence: number): Promise<void>;
  readLease(runId: number): Promise<Lease | null>;
  /** How each of these runs was last held, also those that were given back; without the runs that nobody ever held. */
  readLastLeases(runIds: readonly number[]): Promise<LastLease[]>;
  /**
   * Take runs that want an engine (`run.wanted`, or `run.wanted_at` has come by `now`) and have none: no lease, one that has run out, or one of an owner who
   * is known to be dead. Two that ask at once never get the same run and never wait for each other. A managed run that
   * waits for a place in its group is taken when it is its turn, together with the place. Those with a higher priority first.
   */
  claimRuns(request: ClaimRequest): Promise<HeldLease[]>;
  /** Whoever holds a run that wants an engine, or one that waits for a place, each once; a lease that has run out counts until somebody takes it. */
  listOwners(): Promise<HoldingOwner[]>;

  /** All the runs of this owner that wait for a worker which it does not have, in place of those it named before. */
  putWaiting(owner: LeaseOwner, runs: readonly WaitingRun[]): Promise<void>;
  /** Other owners' waiting runs whose lease has not changed since they were listed, by id. */
  listWaiting(owner: LeaseOwner): Promise<WaitingRun[]>;
  /**
   * Take a waiting run from its living owner, with a new, higher token. Null: its owner has written to it since, or it is
   * somebody else's by now. The taker has a suitable worker, so the previous owner need not release the run.
   */
  takeWaiting(run: WaitingRun, request: Omit<LeaseRequest, "runId" | "evenFrom">): Promise<HeldLease | null>;

  /** Put a command for the owner of a run into its inbox. A key that is there already answers with that entry's id. */
  sendCommand(command: NewInboxCommand): Promise<number>;
  /** Unanswered commands of these runs, oldest first. */
  readInbox(runIds: readonly number[]): Promise<InboxCommand[]>;
  answerCommand(id: number, answer: string): Promise<void>;
  readAnswer(id: number): Promise<string | null>;
  /** Those of this run that were sent before this time, answered or not. */
  forgetCommands(runId: number, before: number): Promise<void>;

  /** Everything of a run that is over, in one transaction; the failure book keeps what it has counted. False: it is not over, or somebody holds its lease. */
  deleteRun(runId: number): Promise<boolean>;

  /**
   * Called after something was committed: by this store object always, by others where the database can tell
   * (PostgreSQL). It may come twice or, after a lost connection, not at all: it wakes, it does not inform.
   */
  onChange(listener: (change: StoreChange) => void): () => void;
  /** What it says of itself. `full`: it is looked through however large it is. Others go on using it meanwhile. */
  inspect(full: boolean): Promise<StoreInspection>;
  /** Rejects if the store takes no writes. */
  ping(): Promise<void>;
  close(): Promise<void>;
}

/**
 * `events`: a run's log grew. `inbox`: a command waits for the run's owner. `wanted`: a run wants an engine, waits for a
 * place in its group, or has left one.
 * `revoked`: some token was revoked; it is of no run (0). `shared`: something that runs share has changed (0).
 */
export interface StoreChange {
  readonly kind: "events" | "inbox" | "answer" | "wanted" | "revoked" | "shared";
  readonly runId: number;
}

export interface WorkflowFilter {
  readonly name?: string;
  readonly limit?: number;
  /** Workflows whose id is smaller. */
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
  /** The text it was published from; null for one that `run FILE` registered. */
  source: nullable(text),
} as const satisfies Fields;
export type WorkflowRow = OfFields<typeof WORKFLOW_ROW>;

export interface DraftRow {
  readonly name: string;
  readonly source: string;
  /** 1 at first, one more with each save. */
  readonly revision: number;
  readonly updated_at: number;
}

export interface NewDraft {
  readonly name: string;
  readonly source: string;
  /** 0: there must be none yet. Null: whatever is there is replaced. */
  readonly basedOn: number | null;
  readonly at: number;
}

export interface EventRange {
  readonly afterSeq?: number;
  readonly limit?: number;
  /** Only events that are about this job alone. */
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
  /** Runs that this owner cannot go on with. */
  readonly except?: readonly number[];
  /** Their processes are gone for good: what they hold is free. */
  readonly deadOwners?: readonly LeaseOwner[];
}

export interface NewWorkflow {
  readonly name: string;
  readonly hash: string;
  /** The Definition as JSON. */
  readonly definition: string;
  readonly file: string | null;
  /** The text it is published from. Given for a hash that is there, it is kept where there was none. */
  readonly source?: string;
  /** The text that the definition was read from, published or not. Kept with the definition, where there was none. */
  readonly written?: string;
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
  /** Upserts by ordinal; most appends have none. */
  readonly checkpoints?: readonly CheckpointRow[];
  /** What the failure book learns of it; one that is there already is left as it is. */
  readonly book?: readonly BookRow[];
  /** What people may have to hear of it; one that is there already is left as it is. */
  readonly outbox?: readonly Notice[];
}

/** What a checkpoint changed, compressed. The hash is of what it holds, so two who write it write the same. */
export interface StoredPatch {
  readonly runId: number;
  readonly diffHash: string;
  readonly bytes: Uint8Array;
}

/** The store neither reads nor believes it: whoever takes it checks it, and has the log if it is worth nothing. */
export interface StoredSnapshot {
  readonly runId: number;
  /** The last event that is in it. */
  readonly seq: number;
  readonly version: string;
  /** Of the bytes. */
  readonly sha256: string;
  readonly bytes: Uint8Array;
}

/** `data` is the event as JSON, made once by the engine. */
export interface SerialisedEvent {
  readonly at: number;
  readonly type: string;
  readonly data: string;
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
  /** It has the run for the moment of an operator's decision and does not go on with it. */
  readonly decides?: true;
}

export interface HoldingOwner {
  readonly owner: LeaseOwner;
  /** The latest end of its leases as the store keeps it. Only whether it changes says anything: its owner lives. */
  readonly mark: number;
}

/** A run and the token under which it is held. */
export interface HeldLease {
  readonly runId: number;
  readonly fence: number;
}

/** A run in which nothing is under way and something could be, had its owner a worker for it. */
export interface WaitingRun extends HeldLease {
  /** The last event of its log at that time. */
  readonly seq: number;
  /** What it asks of a worker and of a server, as JSON. */
  readonly asks: string;
}

export interface Lease {
  readonly owner: LeaseOwner;
  readonly fence: number;
  /** On the clock of whoever asks, whatever clock the store holds it against: it may be compared with one's own now. */
  readonly expiresAt: number;
}

/** A lease that may be over: `owner` is null where it was given back, and `expiresAt` is what it would have lasted to. */
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
