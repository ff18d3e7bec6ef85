import { jobLimits, targetOf } from "../../cluster/scale/demand.js";
import { clusterOf } from "../../cluster/scale/ready-demands.js";
import type { ClusterLimit, RecoveryPolicy } from "../../core/failure/diagnose.js";
import type { Resource } from "../../core/model/resources.js";
import type { Job } from "../../core/model/run.js";
import { messageOf } from "../../core/text/message-of.js";
import type { ClusterSettings } from "../../settings/settings.js";
import type { ClusterControl, Context } from "../context.js";

type LimitOf = NonNullable<RecoveryPolicy["limitOf"]>;

/** What these jobs may be given where they run; each cluster is asked once. Null: none of them runs on a cluster. */
export async function limitsOnClusters({ clusters }: Context, jobs: readonly Job[]): Promise<LimitOf | null> {
  if (clusters == null) return null;
  const asked = new Set(jobs.flatMap((job) => clusterOf(job, clusters.settings) ?? []));
  if (asked.size === 0) return null;
  const limits = new Map<ClusterSettings, (resource: Resource) => ClusterLimit>();
  for (const settings of asked) limits.set(settings, await limitsOf(clusters, settings));
  return (job, resource) => {
    const cluster = clusterOf(job, clusters.settings);
    return cluster === null ? null : (limits.get(cluster)?.(resource) ?? null);
  };
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
