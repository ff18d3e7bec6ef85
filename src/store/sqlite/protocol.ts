import type { ErrorCode } from "../../core/errors/errors.js";
import type { JobFilter } from "../filters.js";
import type { StoreInspection } from "../inspect/store-inspection.js";
import type { NoticeClaim } from "../outbox-rows.js";
import type { GroupMember, PlaceRequest } from "../places.js";
import type {
  ClaimRequest,
  EventRange,
  HeldLease,
  JobNameRange,
  LeaseRequest,
  WaitingRun,
} from "../store.js";
import type { ColdReads, ColdWrites } from "../verbs/verbs.js";
import type { JsonPiece } from "./json-pieces.js";
import type { Cells, PackedAppend } from "./packed-rows.js";

/** What the database thread can be asked: the port's verbs over packed rows, lists of rows as one flat list. */
export interface ReadVerbs extends ColdReads {
  readEvents(runId: number, range: EventRange): JsonPiece[];
  readJobNames(runId: number, range: JobNameRange): JsonPiece[];
  listJobs(filter: JobFilter): JsonPiece[];
  readLease(runId: number): Cells | null;
  readLastLeases(runIds: readonly number[]): Cells;
  /** Each owner as the JSON that stands in its leases. */
  listOwners(): { readonly owner: string; readonly mark: number }[];
  listWaiting(owner: string): WaitingRun[];
  readGroups(groups: readonly string[] | null, now: number): GroupMember[];
}

export interface WriteVerbs extends ColdWrites {
  reserveRunId(): number;
  commit(appends: readonly PackedAppend[]): null;
  /** The new token, or the lease that stands in the way. */
  acquireLease(request: LeaseRequest): number | Cells;
  /** The runs whose lease is no longer held under this token. */
  renewLeases(leases: readonly HeldLease[], expiresAt: number): number[];
  /** Whether the run is free now and wants an engine. */
  releaseLease(runId: number, fence: number): boolean;
  claimRuns(request: ClaimRequest): HeldLease[];
  takePlace(request: PlaceRequest): boolean;
  putWaiting(owner: string, runs: readonly WaitingRun[]): null;
  /** The new token. */
  takeWaiting(run: WaitingRun, owner: string, expiresAt: number): number | null;
  claimNotices(claim: NoticeClaim): Cells;
  deleteRun(runId: number): boolean;
  ping(): null;
}

export interface ThreadVerbs extends ReadVerbs, WriteVerbs {
  /** Instead of opening it. */
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
  /** What it brings can be taken only once, so it is not tried again, as one of several in a transaction may be. */
  readonly alone: boolean;
}

export type Response =
  | { readonly id: number; readonly value: unknown }
  | {
      readonly id: number;
      readonly error: { readonly code: ErrorCode; readonly message: string; readonly hint: string };
    };
