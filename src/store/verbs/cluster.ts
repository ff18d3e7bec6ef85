import {
  type AllocationFilter,
  type AllocationRow,
  type ClusterRow,
  type ClusterState,
  type EndedRows,
  newCluster,
  type ServerRow,
} from "../cluster-rows.js";
import { ownerText } from "../lease-rules.js";
import type { SharedRow } from "../shared-rows.js";
import type { LeaseOwner } from "../store.js";
import { TABLES } from "../tables.js";
import { Conditions, type Dialect } from "./dialect.js";
import { instant, put, rowOf, rows, rowsOf, type Verb } from "./query.js";
import { dataOf, findShared, writeShared } from "./shared.js";

const CLUSTER = "cluster";
const SERVER = "server";

/** The cluster first: what is written between the two questions makes the revision old, so nobody builds on it. */
export function* readCluster(_: Dialect, name: string): Verb<ClusterState> {
  const [row] = yield* findShared(CLUSTER, "AND name = $2", name);
  const live = "WHERE cluster = $1 AND state <> 'ended' ORDER BY created_at, key";
  return {
    cluster: row === undefined ? newCluster(name) : clusterOf(row),
    allocations: yield* rowsOf(TABLES.allocation, live, name),
  };
}

export function* listClusters(): Verb<ClusterRow[]> {
  return (yield* findShared(CLUSTER, "ORDER BY name")).map(clusterOf);
}

export function* writeCluster(dialect: Dialect, { cluster, allocations }: ClusterState): Verb<boolean> {
  const { name, revision, ...data } = cluster;
  const row = { kind: CLUSTER, name, revision, data: JSON.stringify(data) };
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

export function* keepServer(dialect: Dialect, { owner, url, expiresAt }: ServerRow, now: number): Verb<void> {
  const at = yield* instant(dialect, now);
  const data = JSON.stringify({ url, expiresAt: at + expiresAt - now });
  // Nobody else writes it, so nobody is overtaken.
  yield* put(dialect, TABLES.shared, [{ kind: SERVER, name: ownerText(owner), revision: 1, data }]);
}

export function* listServers(dialect: Dialect, now: number): Verb<ServerRow[]> {
  const at = yield* instant(dialect, now);
  return (yield* findShared(SERVER, "ORDER BY name")).map((row) => {
    const { url, expiresAt } = dataOf(row) as Omit<ServerRow, "owner">;
    return { owner: JSON.parse(row.name) as LeaseOwner, url, expiresAt: now + expiresAt - at };
  });
}

export function* forgetServer(_: Dialect, owner: LeaseOwner): Verb<void> {
  yield* rows("DELETE FROM shared WHERE kind = $1 AND name = $2", SERVER, ownerText(owner));
}
