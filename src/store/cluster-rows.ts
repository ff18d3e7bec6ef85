import type { ColumnsOf } from "../core/model/rows.js";
import type { LeaseOwner } from "./store.js";

/** `planned`: the row is there, and perhaps the submission. The others are what the batch system says. */
export type AllocationState = "planned" | "pending" | "starting" | "running" | "ending" | "unknown" | "ended";

/** A job of a batch system that runs one worker. */
export interface AllocationRow {
  /** Made by Daruma before the submission, and found again in the batch system by it. */
  readonly key: string;
  readonly cluster: string;
  /** The batch system's own; null: not submitted, or its answer was lost. */
  readonly id: string | null;
  /** Raised each time the batch system begins it again. */
  readonly restart: number;
  readonly state: AllocationState;
  readonly shape: {
    readonly nodes: number;
    readonly cpus: number;
    readonly memoryBytes: number;
    readonly gpus: number;
    readonly runtimeMs: number;
  };
  readonly tags: readonly string[];
  /** The one job that it is for; null: whatever fits. */
  readonly job_id: number | null;
  /** Why it was made, for people. */
  readonly reason: string;
  /** Where its worker reports. */
  readonly server: string;
  /** The process that looks after it. */
  readonly owner: LeaseOwner;
  readonly token_id: number | null;
  /** Where its script, token and log lie. */
  readonly folder: string;
  readonly nodes: readonly string[];
  /** Somebody wants its end. */
  readonly cancel: "drain" | "now" | null;
  readonly created_at: number;
  readonly submitted_at: number | null;
  readonly started_at: number | null;
  /** When its worker first came to the server. */
  readonly pilot_at: number | null;
  /** Since when nothing is known of it, without a break. */
  readonly unknown_since: number | null;
  readonly ended_at: number | null;
  /** Why it ended. */
  readonly outcome: { readonly code: string; readonly message: string } | null;
}

export const ALLOCATION_COLUMNS: ColumnsOf<AllocationRow> = {
  key: "plain",
  cluster: "plain",
  id: "plain",
  restart: "plain",
  state: "plain",
  shape: "json",
  tags: "json",
  job_id: "plain",
  reason: "free_text",
  server: "plain",
  owner: "json",
  token_id: "plain",
  folder: "plain",
  nodes: "json",
  cancel: "plain",
  created_at: "plain",
  submitted_at: "plain",
  started_at: "plain",
  pilot_at: "plain",
  unknown_since: "plain",
  ended_at: "plain",
  outcome: "json",
};

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

export const CLUSTER_COLUMNS: ColumnsOf<ClusterRow> = {
  name: "plain",
  revision: "plain",
  suspended: "json",
  failures: "plain",
  retry_at: "plain",
  submitted_at: "plain",
  excluded: "json",
};

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

/** A server that is there, or was until lately. */
export interface ServerRow {
  readonly owner: LeaseOwner;
  readonly url: string;
  /** On the clock of whoever asks, as with leases. */
  readonly expiresAt: number;
}

/** What runs share and no log holds: allocations and their clusters, and the servers that look after them. */
/** Allocations that have ended, by key, and tokens that are no longer valid, by id. */
export interface EndedRows {
  readonly allocations: readonly string[];
  readonly tokens: readonly number[];
}

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
  /** This server is there for `expiresAt - now` from this moment, on the clock that the store holds leases against. */
  keepServer(server: ServerRow, now: number): Promise<void>;
  /** All that were kept and have not been forgotten since, also those whose time is over. */
  listServers(now: number): Promise<ServerRow[]>;
  forgetServer(owner: LeaseOwner): Promise<void>;
}
