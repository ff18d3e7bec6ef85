import { DarumaError } from "../core/errors/errors.js";
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

/** `planned`: the row exists, and perhaps the submission. The other states come from the batch system. */
const ALLOCATION_STATE = word(["planned", "pending", "starting", "running", "ending", "unknown", "ended"]);

/** A job of a batch system that runs one worker. */
export const ALLOCATION_ROW = {
  /** Made before the submission. It identifies the job in the batch system. */
  key: text,
  cluster: text,
  /** The batch system's id. Null if it is not submitted, or its answer was lost. */
  id: nullable(text),
  /** Increases each time that the batch system starts it again. */
  restart: id,
  state: ALLOCATION_STATE,
  shape: object({ nodes: id, cpus: number, memoryBytes: number, gpus: number, runtimeMs: number }),
  tags: list(text),
  /** The only job that it is for; null if it takes any that fits. */
  job_id: nullable(id),
  /** The reason for it, for people. */
  reason: freeText,
  /** The address where its worker reports. */
  server: text,
  /** The process that supervises it. */
  owner: jsonOf<LeaseOwner>(),
  token_id: nullable(id),
  /** The folder of its script, token and log. */
  folder: text,
  nodes: list(text),
  /** Set once somebody has asked for its end. */
  cancel: nullable(word(["drain", "now"])),
  created_at: time,
  submitted_at: nullable(time),
  started_at: nullable(time),
  /** When its worker first connected to the server. */
  pilot_at: nullable(time),
  /** The time since which its state has been unknown. */
  unknown_since: nullable(time),
  ended_at: nullable(time),
  /** Why it ended. */
  outcome: nullable(object({ code: text, message: text })),
} as const satisfies Fields;
export type AllocationRow = OfFields<typeof ALLOCATION_ROW>;

/** The state of a cluster that all servers of a store share. */
export interface ClusterRow {
  readonly name: string;
  /** Increases with each change of the cluster or its allocations. 0 if there is no row yet. */
  readonly revision: number;
  /** Nothing is submitted until somebody resumes it. */
  readonly suspended: { readonly kind: string; readonly message: string; readonly at: number } | null;
  /** Allocations in a row that ended without a worker. */
  readonly failures: number;
  /** The time before which nothing is submitted. */
  readonly retry_at: number | null;
  readonly submitted_at: number | null;
  /** Nodes that the next allocations avoid, with an end and a reason. */
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
  /** Allocations that have not ended, oldest first. */
  readonly allocations: readonly AllocationRow[];
}

export interface AllocationFilter {
  readonly cluster?: string;
  /** Only allocations that have not ended. */
  readonly live?: boolean;
  readonly limit?: number;
}

/** Rows to delete: ended allocations by key, and invalid tokens by id. */
export interface EndedRows {
  readonly allocations: readonly string[];
  readonly tokens: readonly number[];
}

/** State that runs share and no log contains: clusters with their allocations. */
export interface ClusterStore {
  /** Reads a cluster. One that was never written has its initial state. */
  readCluster(name: string): Promise<ClusterState>;
  listClusters(): Promise<ClusterRow[]>;
  /**
   * Writes the cluster and these allocations (upserts by key) in one transaction, if the cluster still has the given
   * revision; it then gets the next one. Returns false, and writes nothing, if somebody was faster.
   */
  writeCluster(state: ClusterState): Promise<boolean>;
  readAllocation(key: string): Promise<AllocationRow | null>;
  /** Newest first. */
  listAllocations(filter: AllocationFilter): Promise<AllocationRow[]>;
  /** Deletes rows that nothing refers to any more, in one transaction. Missing ones are ignored. */
  deleteEnded(rows: EndedRows): Promise<void>;
}

/** Others change the same cluster, but each of them only briefly. */
const MAX_TRIES = 50;

/** Changes a cluster in its present state, even if others change it at the same time. */
export async function changeCluster(
  store: Pick<ClusterStore, "readCluster" | "writeCluster">,
  name: string,
  change: (
    cluster: ClusterRow,
    allocations: readonly AllocationRow[],
  ) => { readonly cluster: ClusterRow; readonly allocations: readonly AllocationRow[] } | null,
): Promise<ClusterRow> {
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { cluster, allocations } = await store.readCluster(name);
    const next = change(cluster, allocations);
    if (next === null) return cluster;
    if (await store.writeCluster(next)) return { ...next.cluster, revision: cluster.revision + 1 };
  }
  throw new DarumaError("STORE_FAILED", `the cluster ${name} is changed by others all the time`);
}

/** Changes one allocation. One that has ended is left alone. */
export async function changeAllocation(
  store: Pick<ClusterStore, "readCluster" | "writeCluster">,
  name: string,
  key: string,
  change: (
    row: AllocationRow,
    cluster: ClusterRow,
  ) => { readonly cluster: ClusterRow; readonly row: AllocationRow },
): Promise<void> {
  await changeCluster(store, name, (before, allocations) => {
    const found = allocations.find((row) => row.key === key);
    if (found === undefined) return null;
    const { cluster, row } = change(found, before);
    return { cluster, allocations: [row] };
  });
}
