import type { ClusterLimit, RecoveryPolicy } from "../../core/failure/diagnose.js";
import type { Definition } from "../../core/model/definition.js";
import type { Resource } from "../../core/model/resources.js";
import type { Job } from "../../core/model/run.js";
import { messageOf } from "../../core/text/message-of.js";
import type { ClusterSettings } from "../../file/settings/settings.js";
import { jobLimits, targetOf } from "../../fleet/allocations/scale/demand.js";
import { placeOf } from "../../fleet/allocations/scale/ready-demands.js";
import type { ClusterControl, Context } from "../context.js";

type LimitOf = NonNullable<RecoveryPolicy["limitOf"]>;

/** What these jobs may be given where they run; each cluster is asked once. Null: none of them runs on a cluster. */
export async function limitsOnClusters(
  { clusters }: Context,
  jobs: readonly Job[],
  workflow: Pick<Definition, "schedulers">,
): Promise<LimitOf | null> {
  if (clusters == null) return null;
  const limits = new Map<string, (resource: Resource) => ClusterLimit>();
  for (const job of jobs) {
    const place = placeOf(job, clusters.settings, workflow);
    if (place !== null && !limits.has(keyOf(place)))
      limits.set(keyOf(place), await limitsOf(clusters, place));
  }
  if (limits.size === 0) return null;
  return (job, resource) => {
    const place = placeOf(job, clusters.settings, workflow);
    return place === null ? null : (limits.get(keyOf(place))?.(resource) ?? null);
  };
}

/** A key that is equal for jobs with the same limits. */
function keyOf({ name, tags }: ClusterSettings): string {
  return [name, ...tags].join(" ");
}

/** A job that was given more than there is would wait for ever, so a cluster that cannot be asked counts as trouble. */
async function limitsOf(
  clusters: ClusterControl,
  settings: ClusterSettings,
): Promise<(resource: Resource) => ClusterLimit> {
  const { name: cluster } = settings;
  try {
    const limits = jobLimits(settings, targetOf(settings, await clusters.targets(cluster)));
    return (resource) => ({ cluster, amount: limits[resource] });
  } catch (error) {
    return () => ({ cluster, trouble: messageOf(error) });
  }
}
