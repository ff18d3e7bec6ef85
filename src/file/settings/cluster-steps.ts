import { DarumaError } from "../../core/errors/errors.js";
import type { Definition } from "../../core/model/definition.js";
import { type ClusterSettings, clusterFor } from "./settings.js";

type Clusters = readonly Pick<ClusterSettings, "name" | "tags">[];

/**
 * Throws if a step asks for a cluster: `daruma run` executes steps itself and has no address for workers on a cluster.
 */
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

/** Throws if a cluster step uses the workspace, which lies in a folder of the server that nodes do not have. */
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
