import { DarumaError } from "../core/errors/errors.js";
import type { ClusterSettings } from "../file/settings/settings.js";
import { createAllocationProvider } from "../fleet/allocations/create-provider.js";
import type { AllocationProvider } from "../fleet/allocations/provider.js";
import type { AllocationSupervisor } from "../fleet/supervisor/allocation-supervisor.js";
import type { ClusterSupervisor } from "../fleet/supervisor/cluster-supervisor.js";
import type { ClusterControl } from "../operations/context.js";

/** What stands in a script that nobody submits. */
const NO_SERVER = "http://SERVER:7420";

/** The clusters of a server. */
export function controlClusters(
  settings: readonly ClusterSettings[],
  allocations: AllocationSupervisor,
  server: () => string,
): ClusterControl {
  const supervisor = (name: string): ClusterSupervisor => allocations.supervisor(name) ?? noCluster(name);
  const providers = providersOf(settings);
  return {
    settings,
    server,
    targets: (name) => supervisor(name).targets(),
    planOf: (name, spec, targets) => providers(name).plan(spec, targets),
    planNow: (name) => supervisor(name).planNow(),
    impossible: () => allocations.impossible(),
    wake: (name) => allocations.supervisor(name)?.wake(),
  };
}

/** The clusters of settings that a command was given: it can look at them, and no more. */
export function lookAtClusters(settings: readonly ClusterSettings[]): ClusterControl {
  const providers = providersOf(settings);
  return {
    settings,
    server: () => NO_SERVER,
    targets: async (name) => (await providers(name).probe(new AbortController().signal)).targets,
    planOf: (name, spec, targets) => providers(name).plan(spec, targets),
    planNow: () => {
      throw new DarumaError("NO_RUNNER", "only a server can submit allocations");
    },
    impossible: () => [],
    wake: () => {},
  };
}

function providersOf(settings: readonly ClusterSettings[]): (name: string) => AllocationProvider {
  const made = new Map(settings.map((each) => [each.name, createAllocationProvider(each.type)]));
  return (name) => made.get(name) ?? noCluster(name);
}

function noCluster(name: string): never {
  throw new DarumaError("CLUSTER_NOT_FOUND", `there is no cluster ${name}`);
}
