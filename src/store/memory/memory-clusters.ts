import { type AllocationRow, type ClusterRow, type ClusterStore, newCluster } from "../cluster-rows.js";
import { ownerText } from "../lease-rules.js";
import { toStorableText } from "../storable-text.js";
import { type MemoryTables, type OpenTables, parseRow } from "./memory-tables.js";

export function createClusterVerbs(open: OpenTables): ClusterStore {
  return {
    async readCluster(name) {
      const tables = open();
      const allocations = rowsOf(tables).filter((row) => row.cluster === name && row.state !== "ended");
      return { cluster: clusterOf(tables, name), allocations };
    },
    listClusters: async () =>
      [...open().clusters.values()]
        .map((text) => parseRow<ClusterRow>(text))
        .sort((a, b) => (a.name < b.name ? -1 : 1)),
    async writeCluster({ cluster, allocations }) {
      const tables = open();
      const { name, revision } = cluster;
      if (clusterOf(tables, name).revision !== revision) return false;
      tables.clusters.set(name, JSON.stringify({ ...cluster, revision: revision + 1 }));
      for (const row of allocations)
        tables.allocations.set(row.key, JSON.stringify({ ...row, reason: toStorableText(row.reason) }));
      return true;
    },
    async readAllocation(key) {
      const text = open().allocations.get(key);
      return text === undefined ? null : parseRow<AllocationRow>(text);
    },
    async listAllocations({ cluster, live = false, limit = Number.POSITIVE_INFINITY }) {
      return rowsOf(open())
        .filter(
          (row) => (cluster === undefined || row.cluster === cluster) && !(live && row.state === "ended"),
        )
        .reverse()
        .slice(0, limit);
    },
    async deleteEnded({ allocations, tokens }) {
      const tables = open();
      for (const key of allocations) tables.allocations.delete(key);
      const gone = new Set(tokens);
      tables.tokens.splice(0, tables.tokens.length, ...tables.tokens.filter(({ id }) => !gone.has(id)));
    },
    async keepServer({ owner, url, expiresAt }) {
      open().servers.set(ownerText(owner), { owner: { ...owner }, url, expiresAt });
    },
    listServers: async () => structuredClone([...open().servers.values()]),
    async forgetServer(owner) {
      open().servers.delete(ownerText(owner));
    },
  };
}

function clusterOf({ clusters }: MemoryTables, name: string): ClusterRow {
  const text = clusters.get(name);
  return text === undefined ? newCluster(name) : parseRow<ClusterRow>(text);
}

/** Oldest first. */
function rowsOf({ allocations }: MemoryTables): AllocationRow[] {
  return [...allocations.values()]
    .map((text) => parseRow<AllocationRow>(text))
    .sort((a, b) => a.created_at - b.created_at || (a.key < b.key ? -1 : 1));
}
