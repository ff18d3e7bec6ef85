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
import type { LeaseOwner } from "../store.js";
import { parseStoredJson } from "../stored-json.js";
import { TABLES } from "../tables.js";
import { Conditions, type Dialect } from "./dialect.js";
import { instant, put, row, rowOf, rows, rowsOf, type Verb } from "./query.js";

/** The cluster first: what is written between the two questions makes the revision old, so nobody builds on it. */
export function* readCluster(_: Dialect, name: string): Verb<ClusterState> {
  const cluster = yield* rowOf(TABLES.cluster, "WHERE name = $1", name);
  const live = "WHERE cluster = $1 AND state <> 'ended' ORDER BY created_at, key";
  return {
    cluster: cluster ?? newCluster(name),
    allocations: yield* rowsOf(TABLES.allocation, live, name),
  };
}

export function* listClusters(): Verb<ClusterRow[]> {
  return yield* rowsOf(TABLES.cluster, "ORDER BY name");
}

export function* writeCluster(dialect: Dialect, { cluster, allocations }: ClusterState): Verb<boolean> {
  const { name, revision } = cluster;
  const present = yield* row<{ revision: number }>("SELECT revision FROM cluster WHERE name = $1", name);
  if ((present?.revision ?? 0) !== revision) return false;
  yield* put(dialect, TABLES.cluster, [{ ...cluster, revision: revision + 1 }]);
  yield* put(dialect, TABLES.allocation, allocations);
  return true;
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
  yield* rows(
    `INSERT INTO server (owner, url, expires_at) VALUES ($1, $2, $3)
     ON CONFLICT (owner) DO UPDATE SET url = excluded.url, expires_at = excluded.expires_at`,
    ...[ownerText(owner), url, at + expiresAt - now],
  );
}

export function* listServers(dialect: Dialect, now: number): Verb<ServerRow[]> {
  const at = yield* instant(dialect, now);
  const found = yield* rows<{ owner: string; url: string; expires_at: number }>(
    "SELECT owner, url, expires_at FROM server ORDER BY owner",
  );
  return found.map(({ owner, url, expires_at }) => ({
    owner: parseStoredJson(owner, () => "an owner in the table server") as LeaseOwner,
    url,
    expiresAt: now + expires_at - at,
  }));
}

export function* forgetServer(_: Dialect, owner: LeaseOwner): Verb<void> {
  yield* rows("DELETE FROM server WHERE owner = $1", ownerText(owner));
}
