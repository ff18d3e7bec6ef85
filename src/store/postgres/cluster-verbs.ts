import { randomUUID } from "node:crypto";
import { type AllocationRow, type ClusterRow, type ClusterStore, newCluster } from "../cluster-rows.js";
import { ownerText } from "../lease-rules.js";
import type { LeaseOwner } from "../store.js";
import { COLUMNS, TABLES } from "../tables.js";
import { setEach } from "./commit/commit-function.js";
import { toJsonRows } from "./commit/commit-payload.js";
import { type Database, LEASE_DEADLINE_MS } from "./database.js";
import type { LeaseClock } from "./lease-verbs.js";
import { readStoredRow, type StoredRow } from "./stored-rows.js";

/** The first parameter is the instant at which it is for a caller whose clock counts, else null. */
const NOW = "coalesce($1::bigint, floor(extract(epoch FROM statement_timestamp()) * 1000)::bigint)";

/** One statement, so all of it or nothing. The stamp tells a call that is repeated that it was the one that wrote. */
const WRITE = `
  WITH written AS (
    INSERT INTO cluster (${COLUMNS.cluster}, stamp)
      SELECT ${COLUMNS.cluster}, $2 FROM json_populate_recordset(NULL::cluster, $1::text::json)
      ON CONFLICT (name) DO UPDATE SET ${setEach(TABLES.cluster.replaced)}, stamp = excluded.stamp
      WHERE cluster.revision = excluded.revision - 1
      RETURNING name),
  put AS (
    INSERT INTO allocation (${COLUMNS.allocation})
      SELECT ${COLUMNS.allocation} FROM json_populate_recordset(NULL::allocation, coalesce($3, '[]')::text::json)
      WHERE EXISTS (SELECT FROM written)
      ON CONFLICT (key) DO UPDATE SET ${setEach(TABLES.allocation.replaced)})
  SELECT name FROM written`;

export function createClusterVerbs(db: Database, clock: LeaseClock): ClusterStore {
  const at = (now: number): number | null => (clock === "caller" ? now : null);
  const allocations = async (rest: string, ...parameters: (string | number | null)[]) => {
    const sql = `SELECT ${COLUMNS.allocation} FROM allocation ${rest}`;
    return (await db.rows<StoredRow>(sql, ...parameters)).map((row) => readStoredRow(TABLES.allocation, row));
  };
  return {
    async readCluster(name) {
      // The cluster first: what is written between the two questions makes the revision old, so nobody builds on it.
      const [row] = await db.rows<StoredRow>(`SELECT ${COLUMNS.cluster} FROM cluster WHERE name = $1`, name);
      const live = await allocations(
        "WHERE cluster = $1 AND state <> 'ended' ORDER BY created_at, key",
        name,
      );
      return {
        cluster: row === undefined ? newCluster(name) : readStoredRow(TABLES.cluster, row),
        allocations: live,
      };
    },
    async listClusters() {
      const rows = await db.rows<StoredRow>(`SELECT ${COLUMNS.cluster} FROM cluster ORDER BY name`);
      return rows.map((row) => readStoredRow(TABLES.cluster, row));
    },
    writeCluster: ({ cluster, allocations: rows }) => write(db, cluster, rows),
    readAllocation: async (key) => (await allocations("WHERE key = $1", key))[0] ?? null,
    listAllocations: ({ cluster, live = false, limit }) =>
      allocations(
        `WHERE ($1::text IS NULL OR cluster = $1) ${live ? "AND state <> 'ended'" : ""}
         ORDER BY created_at DESC, key DESC LIMIT $2::bigint`,
        ...[cluster ?? null, limit ?? null],
      ),
    async deleteEnded({ allocations: keys, tokens }) {
      await db.work((session) =>
        session.rows(
          `WITH gone AS (DELETE FROM allocation WHERE key IN (SELECT jsonb_array_elements_text($1::text::jsonb)))
           DELETE FROM token WHERE id IN (SELECT jsonb_array_elements_text($2::text::jsonb)::bigint)`,
          ...[JSON.stringify(keys), JSON.stringify(tokens)],
        ),
      );
    },
    async keepServer({ owner, url, expiresAt }, now) {
      await db.work(
        (session) =>
          session.rows(
            `INSERT INTO server (owner, url, expires_at) VALUES ($2, $3, ${NOW} + $4::bigint)
             ON CONFLICT (owner) DO UPDATE SET url = excluded.url, expires_at = excluded.expires_at`,
            ...[at(now), ownerText(owner), url, expiresAt - now],
          ),
        { deadlineMs: LEASE_DEADLINE_MS },
      );
    },
    async listServers(now) {
      const rows = await db.rows<{ owner: string; url: string; expires_at: number }>(
        `SELECT owner, url, $2::bigint + expires_at - ${NOW} AS expires_at FROM server ORDER BY owner`,
        ...[at(now), now],
      );
      return rows.map(({ owner, url, expires_at: expiresAt }) => ({
        owner: JSON.parse(owner) as LeaseOwner,
        url,
        expiresAt,
      }));
    },
    async forgetServer(owner) {
      await db.rows("DELETE FROM server WHERE owner = $1", ownerText(owner));
    },
  };
}

function write(db: Database, cluster: ClusterRow, rows: readonly AllocationRow[]): Promise<boolean> {
  const stamp = randomUUID();
  const row = toJsonRows(TABLES.cluster, [{ ...cluster, revision: cluster.revision + 1 }]);
  return db.work(async (session, isRepeated) => {
    const written = await session.rows(WRITE, ...[row, stamp, toJsonRows(TABLES.allocation, rows)]);
    if (written.length === 1 || !isRepeated) return written.length === 1;
    const sql = "SELECT 1 FROM cluster WHERE name = $1 AND stamp = $2";
    return (await session.rows(sql, cluster.name, stamp)).length === 1;
  });
}
