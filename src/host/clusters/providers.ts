import type { AllocationProvider } from "../../cluster/provider.js";
import { createSlurmProvider } from "../../cluster/slurm/slurm-provider.js";
import { DarumaError } from "../../core/errors/errors.js";
import type { ClusterSettings } from "../../settings/settings.js";

export function createProvider({ type, name }: ClusterSettings): AllocationProvider {
  if (type === "slurm") return createSlurmProvider();
  throw new DarumaError("USAGE", `cluster ${name}: type ${type} is not supported yet`);
}
