import type { ProviderOptions } from "./command.js";
import { createGridEngineProvider } from "./gridengine/gridengine-provider.js";
import type { AllocationProvider } from "./provider.js";
import { createSlurmProvider } from "./slurm/slurm-provider.js";

/** All batch systems that Daruma can submit to. */
const PROVIDERS = {
  slurm: createSlurmProvider,
  gridengine: createGridEngineProvider,
} as const satisfies Record<string, (options?: ProviderOptions) => AllocationProvider>;

export type ClusterEngine = keyof typeof PROVIDERS;

export function createAllocationProvider(
  engine: ClusterEngine,
  options?: ProviderOptions,
): AllocationProvider {
  return PROVIDERS[engine](options);
}
