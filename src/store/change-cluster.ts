import { DarumaError } from "../core/errors/errors.js";
import type { AllocationRow, ClusterRow, ClusterStore } from "./cluster-rows.js";

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
