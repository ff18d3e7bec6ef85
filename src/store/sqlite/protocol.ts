import type { MessagePort } from "node:worker_threads";
import type { ErrorCode } from "../../core/errors/errors.js";
import type { JobFilter } from "../filters.js";
import type { GroupMember, SlotRequest } from "../group-slots.js";
import type { StoreInspection } from "../inspect/store-inspection.js";
import type { NoticeClaim } from "../outbox-rows.js";
import type {
  ClaimRequest,
  EventRange,
  HeldLease,
  JobNameRange,
  LeaseRequest,
  WaitingRun,
} from "../store.js";
import type { ColdReads, ColdWrites } from "../verbs/verbs.js";
import type { Cells, PackedAppend } from "./packed-rows.js";
import type { JsonPiece } from "./read-verbs.js";

/** Requests to the database thread: the port's verbs over packed rows, with lists of rows as one flat list. */
export interface ReadVerbs extends ColdReads {
  readEvents(runId: number, range: EventRange): JsonPiece[];
  readJobNames(runId: number, range: JobNameRange): JsonPiece[];
  listJobs(filter: JobFilter): JsonPiece[];
  readLease(runId: number): Cells | null;
  readLastLeases(runIds: readonly number[]): Cells;
  /** Lists each owner as the JSON in its leases. */
  listOwners(): { readonly owner: string; readonly mark: number }[];
  listWaiting(owner: string): WaitingRun[];
  readGroups(groups: readonly string[] | null, now: number): GroupMember[];
}

export interface WriteVerbs extends ColdWrites {
  reserveRunId(): number;
  commit(appends: readonly PackedAppend[]): null;
  /** Returns the new token, or the lease that is in the way. */
  acquireLease(request: LeaseRequest): number | Cells;
  /** Returns the runs whose lease is no longer held under this token. */
  renewLeases(leases: readonly HeldLease[], expiresAt: number): number[];
  /** Returns whether the run is free now and wants an engine. */
  releaseLease(runId: number, fence: number): boolean;
  claimRuns(request: ClaimRequest): HeldLease[];
  takeSlot(request: SlotRequest): boolean;
  putWaiting(owner: string, runs: readonly WaitingRun[]): null;
  /** Returns the new token. */
  takeWaiting(run: WaitingRun, owner: string, expiresAt: number): number | null;
  claimNotices(claim: NoticeClaim): Cells;
  deleteRun(runId: number): boolean;
  ping(): null;
}

export interface ThreadVerbs extends ReadVerbs, WriteVerbs {
  /** Called instead of `open`. */
  inspect(file: string, full: boolean): StoreInspection;
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
  /** Its queues can be read only once, so it must not share a transaction that may be repeated. */
  readonly alone: boolean;
}

export type Response =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
    };

/** Has a database execute verbs: on a thread of its own for a file, on this thread for one in memory. */
export interface Caller {
  readonly file: string;
  call<V extends Verb>(verb: V, ...args: Parameters<ThreadVerbs[V]>): Promise<ReturnType<ThreadVerbs[V]>>;
  /** Calls a verb whose arguments include queues. Nothing else shares its transaction. */
  callWith<V extends Verb>(
    queues: readonly MessagePort[],
    verb: V,
    ...args: Parameters<ThreadVerbs[V]>
  ): Promise<ReturnType<ThreadVerbs[V]>>;
  close(): Promise<void>;
}
