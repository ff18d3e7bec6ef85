import type { AllocationRow } from "../../src/store/cluster-rows.js";
import { currentOwner } from "../../src/store/lease-owner.js";
import type { LiveServer } from "./live-server.js";

/** As if a batch system ran two: one on six nodes, and one that somebody drains. */
export async function putAllocations({ running: { store }, url }: LiveServer): Promise<void> {
  const { cluster } = await store.readCluster("hpc");
  const now = Date.now();
  const common: Omit<AllocationRow, "key" | "id" | "cancel" | "nodes"> = {
    ...{ cluster: "hpc", restart: 0, state: "running", tags: ["cpu"], job_id: null, reason: "2 jobs" },
    shape: { nodes: 6, cpus: 16, memoryBytes: 64 * 1024 ** 3, gpus: 0, runtimeMs: 14_400_000 },
    owner: currentOwner("another"),
    ...{ server: url, token_id: null, folder: "/shared/allocations", created_at: now, submitted_at: now },
    ...{ started_at: now, pilot_at: now, unknown_since: null, ended_at: null, outcome: null },
  };
  const nodes = [1, 2, 3, 4, 5, 6].map((n) => `node${n}`);
  const allocations: AllocationRow[] = [
    { ...common, key: "daruma-1", id: "4711", cancel: null, nodes },
    { ...common, key: "daruma-2", id: "4712", cancel: "drain", nodes: ["node7"] },
  ];
  await store.writeCluster({ cluster, allocations });
}
