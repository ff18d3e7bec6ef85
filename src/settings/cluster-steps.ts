import { DarumaError } from "../core/errors/errors.js";
import type { Definition } from "../core/model/definition.js";
import { type ClusterSettings, clusterFor } from "./settings.js";

type Clusters = readonly Pick<ClusterSettings, "name" | "tags">[];

/** `daruma run` executes steps itself: it has no address to which workers of a cluster could come. */
export function refuseClusterSteps({ steps }: Pick<Definition, "steps">, clusters: Clusters): void {
  for (const { id, runsOn = [] } of steps) {
    const cluster = clusterFor(runsOn, clusters);
    if (cluster !== null)
      throw new DarumaError(
        "CLUSTER_NEEDS_SERVER",
        `step ${id} asks for ${runsOn.join(", ")}, which is the cluster ${cluster.name}; daruma run uses no clusters`,
      );
  }
}

/** The workspace lies in the folder of the server that owns the run, which nodes do not have. */
export function refuseWorkspaceOnCluster({ steps }: Pick<Definition, "steps">, clusters: Clusters): void {
  for (const { id, runsOn = [], usesWorkspace = false } of steps) {
    const cluster = usesWorkspace ? clusterFor(runsOn, clusters) : null;
    if (cluster !== null)
      throw new DarumaError(
        "CLUSTER_WORKSPACE",
        `step ${id} works in the run's workspace and asks for the cluster ${cluster.name}`,
      );
  }
}
