import { type AllocationRow, type ClusterStore, newCluster } from "../cluster-rows.js";
import { ownerText } from "../lease-rules.js";
import type { LeaseOwner } from "../store.js";
import { parseStoredJson } from "../stored-json.js";
import { COLUMNS, namesOf, TABLES } from "../tables.js";
import type { Caller } from "./caller.js";
import { packRows, unpackRow, unpackTable } from "./packed-rows.js";
import type { ReadVerbs, WriteVerbs } from "./protocol.js";
import { Conditions, type Statements } from "./statements.js";

type ClusterRead = "readCluster" | "listClusters" | "readAllocation" | "listAllocations" | "listServers";
type ClusterWrite = "writeCluster" | "deleteEnded" | "keepServer" | "forgetServer";

const OLDEST_FIRST = "ORDER BY created_at, key";
const NEWEST_FIRST = "ORDER BY created_at DESC, key DESC";
const NO_LIMIT = -1;

export function createClusterReads({ row, rows }: Statements): Pick<ReadVerbs, ClusterRead> {
  return {
    readCluster: (name) => ({
      cluster: row(`SELECT ${COLUMNS.cluster} FROM cluster WHERE name = ?`, name),
      allocations: rows(
        `SELECT ${COLUMNS.allocation} FROM allocation WHERE cluster = ? AND state <> 'ended' ${OLDEST_FIRST}`,
        name,
      ).flat(),
    }),
    listClusters: () => rows(`SELECT ${COLUMNS.cluster} FROM cluster ORDER BY name`).flat(),
    readAllocation: (key) => row(`SELECT ${COLUMNS.allocation} FROM allocation WHERE key = ?`, key),
    listAllocations: ({ cluster, live = false, limit }) => {
      const { where, cells } = new Conditions()
        .demand("cluster = ?", cluster)
        .demandIf(live, "state <> 'ended'");
      const sql = `SELECT ${COLUMNS.allocation} FROM allocation ${where} ${NEWEST_FIRST} LIMIT ?`;
      return rows(sql, ...cells, limit ?? NO_LIMIT).flat();
    },
    listServers: () =>
      rows<readonly [string, string, number]>("SELECT owner, url, expires_at FROM server ORDER BY owner").map(
        ([owner, url, expiresAt]) => ({ owner, url, expiresAt }),
      ),
  };
}

export function createClusterWrites({ run, row }: Statements): Pick<WriteVerbs, ClusterWrite> {
  return {
    writeCluster: (name, revision, cluster, allocations) => {
      const found = row<readonly [number]>("SELECT revision FROM cluster WHERE name = ?", name);
      if ((found?.[0] ?? 0) !== revision) return false;
      run(`INSERT OR REPLACE INTO cluster (${COLUMNS.cluster}) VALUES (${holes("cluster")})`, ...cluster);
      const width = TABLES.allocation.columns.length;
      for (let from = 0; from < allocations.length; from += width)
        run(
          `INSERT OR REPLACE INTO allocation (${COLUMNS.allocation}) VALUES (${holes("allocation")})`,
          ...allocations.slice(from, from + width),
        );
      return true;
    },
    deleteEnded: ({ allocations, tokens }) => {
      for (const key of allocations) run("DELETE FROM allocation WHERE key = ?", key);
      for (const id of tokens) run("DELETE FROM token WHERE id = ?", id);
      return null;
    },
    keepServer: (owner, url, expiresAt) => {
      run("INSERT OR REPLACE INTO server (owner, url, expires_at) VALUES (?, ?, ?)", owner, url, expiresAt);
      return null;
    },
    forgetServer: (owner) => {
      run("DELETE FROM server WHERE owner = ?", owner);
      return null;
    },
  };
}

function holes(table: "cluster" | "allocation"): string {
  return namesOf(TABLES[table])
    .map(() => "?")
    .join(", ");
}

export function createClusterVerbs(thread: Caller): ClusterStore {
  return {
    async readCluster(name) {
      const { cluster, allocations } = await thread.call("readCluster", name);
      return {
        cluster: unpackRow(TABLES.cluster, cluster) ?? newCluster(name),
        allocations: unpackTable(TABLES.allocation, allocations),
      };
    },
    async listClusters() {
      return unpackTable(TABLES.cluster, await thread.call("listClusters"));
    },
    writeCluster: ({ cluster, allocations }) =>
      thread.call(
        "writeCluster",
        cluster.name,
        cluster.revision,
        packRows(TABLES.cluster, [{ ...cluster, revision: cluster.revision + 1 }]),
        packRows(TABLES.allocation, allocations as readonly AllocationRow[]),
      ),
    async readAllocation(key) {
      return unpackRow(TABLES.allocation, await thread.call("readAllocation", key));
    },
    async listAllocations(filter) {
      return unpackTable(TABLES.allocation, await thread.call("listAllocations", filter));
    },
    async deleteEnded(ended) {
      await thread.call("deleteEnded", ended);
    },
    async keepServer({ owner, url, expiresAt }) {
      await thread.call("keepServer", ownerText(owner), url, expiresAt);
    },
    async listServers() {
      const servers = await thread.call("listServers");
      return servers.map(({ owner, ...rest }) => ({
        owner: parseStoredJson(owner, () => "an owner in the table server") as LeaseOwner,
        ...rest,
      }));
    },
    async forgetServer(owner) {
      await thread.call("forgetServer", ownerText(owner));
    },
  };
}
