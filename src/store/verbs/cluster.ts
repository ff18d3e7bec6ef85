import {
  type AllocationFilter,
  type AllocationRow,
  type ClusterRow,
  type ClusterState,
  type EndedRows,
  newCluster,
} from "../cluster-rows.js";
import type { SharedRow } from "../shared-rows.js";
import { TABLES } from "../tables.js";
import { Conditions, type Dialect, put, rowOf, rows, rowsOf, type Verb } from "./dialect.js";
import { dataOf, findShared, writeShared } from "./shared.js";

const KIND = "cluster";

/**
 * Reads a cluster, its own row first: a write between the two queries makes the revision old, so nobody builds on it.
 */
export function* readCluster(_: Dialect, name: string): Verb<ClusterState> {
  const [row] = yield* findShared(KIND, "AND name = $2", name);
  const live = "WHERE cluster = $1 AND state <> 'ended' ORDER BY created_at, key";
  return {
    cluster: row === undefined ? newCluster(name) : clusterOf(row),
    allocations: yield* rowsOf(TABLES.allocation, live, name),
  };
}

export function* listClusters(): Verb<ClusterRow[]> {
  return (yield* findShared(KIND, "ORDER BY name")).map(clusterOf);
}

export function* writeCluster(dialect: Dialect, { cluster, allocations }: ClusterState): Verb<boolean> {
  const { name, revision, ...data } = cluster;
  const row = { kind: KIND, name, revision, data: JSON.stringify(data) };
  if (!(yield* writeShared(dialect, [row]))) return false;
  yield* put(dialect, TABLES.allocation, allocations);
  return true;
}

function clusterOf(row: SharedRow): ClusterRow {
  const { name, revision } = row;
  return { ...(dataOf(row) as ClusterRow), name, revision };
}

export function* readAllocation(_: Dialect, key: string): Verb<AllocationRow | null> {
  return yield* rowOf(TABLES.allocation, "WHERE key = $1", key);
}

export function* listAllocations(
  dialect: Dialect,
  { cluster, live = false, limit }: AllocationFilter,
): Verb<AllocationRow[]> {
  const found = new Conditions(dialect).demand("cluster = ?", cluster).demandIf(live, "state <> 'ended'");
  const rest = `${found.where} ORDER BY created_at DESC, key DESC ${found.limit(limit)}`;
  return yield* rowsOf(TABLES.allocation, rest, ...found.values);
}

export function* deleteEnded({ among }: Dialect, { allocations, tokens }: EndedRows): Verb<void> {
  yield* rows(`DELETE FROM allocation WHERE ${among("key", "$1", "text")}`, allocations);
  yield* rows(`DELETE FROM token WHERE ${among("id", "$1", "bigint")}`, tokens);
}
