import { join } from "node:path";
import type { ClusterSettings } from "../../../file/settings/settings.js";
import type { AllocationSpec } from "../provider.js";
import type { PlannedAllocation } from "./plan-allocations.js";

/** The paths of one allocation's files. */
export interface AllocationPaths {
  readonly folder: string;
  readonly tokenFile: string;
  readonly scriptFile: string;
  readonly logFile: string;
}

export function allocationPaths(folder: string): AllocationPaths {
  return {
    folder,
    tokenFile: join(folder, "token"),
    scriptFile: join(folder, "script.sh"),
    logFile: join(folder, "worker.log"),
  };
}

export interface AllocationPlace {
  readonly key: string;
  readonly folder: string;
  readonly server: string;
}

/** The spec from which a provider makes a script. */
export function specOf(
  settings: ClusterSettings,
  { shape }: Pick<PlannedAllocation, "shape">,
  { key, folder, server, nodes }: AllocationPlace & { readonly nodes: readonly string[] },
): AllocationSpec {
  const { account, qos, gres, parallelEnvironment, memoryResource, options, setup, program } = settings;
  const { tokenFile, logFile } = allocationPaths(folder);
  return {
    key,
    cluster: settings.name,
    shape,
    target: settings.target,
    tags: settings.tags,
    excludeNodes: nodes,
    drainMs: settings.allocation.drainMs,
    idleExitMs: settings.allocation.idleExitMs,
    ...(settings.allocation.slots === undefined ? {} : { slots: settings.allocation.slots }),
    server: settings.server ?? server,
    tokenFile,
    logFile,
    profile: {
      ...(account === null ? {} : { account }),
      ...(qos === null ? {} : { qos }),
      ...(gres === null ? {} : { gres }),
      ...(parallelEnvironment === null ? {} : { parallelEnvironment }),
      ...(memoryResource === null ? {} : { memoryResource }),
      options,
      setup,
      program,
    },
  };
}
