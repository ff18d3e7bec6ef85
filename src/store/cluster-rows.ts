import {
  type Fields,
  freeText,
  id,
  jsonOf,
  list,
  nullable,
  number,
  type OfFields,
  object,
  text,
  time,
  word,
} from "../core/text/shape.js";
import type { LeaseOwner } from "./store.js";

/** `planned`: the row is there, and perhaps the submission. The others are what the batch system says. */
const ALLOCATION_STATE = word(["planned", "pending", "starting", "running", "ending", "unknown", "ended"]);

/** A job of a batch system that runs one worker. */
export const ALLOCATION_ROW = {
  /** Made by Daruma before the submission, and found again in the batch system by it. */
  key: text,
  cluster: text,
  /** The batch system's own; null: not submitted, or its answer was lost. */
  id: nullable(text),
  /** Raised each time the batch system begins it again. */
  restart: id,
  state: ALLOCATION_STATE,
  shape: object({ nodes: id, cpus: number, memoryBytes: number, gpus: number, runtimeMs: number }),
  tags: list(text),
  /** The one job that it is for; null: whatever fits. */
  job_id: nullable(id),
  /** Why it was made, for people. */
  reason: freeText,
  /** Where its worker reports. */
  server: text,
  /** The process that looks after it. */
  owner: jsonOf<LeaseOwner>(),
  token_id: nullable(id),
  /** Where its script, token and log lie. */
  folder: text,
  nodes: list(text),
  /** Somebody wants its end. */
  cancel: nullable(word(["drain", "now"])),
  created_at: time,
  submitted_at: nullable(time),
  started_at: nullable(time),
  /** When its worker first came to the server. */
  pilot_at: nullable(time),
  /** Since when nothing is known of it, without a break. */
  unknown_since: nullable(time),
  ended_at: nullable(time),
  /** Why it ended. */
  outcome: nullable(object({ code: text, message: text })),
} as const satisfies Fields;
export type AllocationRow = OfFields<typeof ALLOCATION_ROW>;

/** What all servers of a store must agree on about one cluster. */
export interface ClusterRow {
  readonly name: string;
  /** One more with each change, of it or of its allocations; 0: there is no row yet. */
  readonly revision: number;
  /** Nothing is submitted until somebody resumes it. */
  readonly suspended: { readonly kind: string; readonly message: string; readonly at: number } | null;
  /** Allocations in a row that ended without a worker. */
  readonly failures: number;
  /** Nothing is submitted before. */
  readonly retry_at: number | null;
  readonly submitted_at: number | null;
  /** Nodes that the next allocations leave out, until when and why. */
  readonly excluded: readonly { readonly node: string; readonly until: number; readonly reason: string }[];
}

export function newCluster(name: string): ClusterRow {
  return {
    name,
    revision: 0,
    suspended: null,
    failures: 0,
    retry_at: null,
    submitted_at: null,
    excluded: [],
  };
}

export interface ClusterState {
  readonly cluster: ClusterRow;
  /** Those that have not ended, oldest first. */
  readonly allocations: readonly AllocationRow[];
}

export interface AllocationFilter {
  readonly cluster?: string;
  /** Only those that have not ended. */
  readonly live?: boolean;
  readonly limit?: number;
}

/** Allocations that have ended, by key, and tokens that are no longer valid, by id. */
export interface EndedRows {
  readonly allocations: readonly string[];
  readonly tokens: readonly number[];
}

/** What runs share and no log holds: allocations and their clusters. */
export interface ClusterStore {
  /** One that was never written is as new. */
  readCluster(name: string): Promise<ClusterState>;
  listClusters(): Promise<ClusterRow[]>;
  /**
   * The cluster and these allocations of it (upserts by key), in one transaction, if the cluster still has the revision
   * of the row that is given; it then has the next one. False: somebody was faster, and nothing is written.
   */
  writeCluster(state: ClusterState): Promise<boolean>;
  readAllocation(key: string): Promise<AllocationRow | null>;
  /** Newest first. */
  listAllocations(filter: AllocationFilter): Promise<AllocationRow[]>;
  /** Rows that nothing refers to any more, in one transaction; those that are not there are passed over. */
  deleteEnded(rows: EndedRows): Promise<void>;
}
