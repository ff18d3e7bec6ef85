import type { SchedulerRequest } from "../../../core/model/batch/scheduler-request.js";
import type { Allowed, ClusterSettings, SchedulerRules } from "../../../file/settings/settings.js";
import { isRefusal } from "../provider.js";
import { readSlurmOptions } from "../slurm/plan.js";

/** A request of a file that is not allowed. */
export interface Forbidden {
  readonly message: string;
  /** The setting of the cluster that could allow it; null if nothing can. */
  readonly rule: string | null;
}

/**
 * What a file requests without permission. A file must not choose accounts, targets or options that the server's
 * operator has not allowed. Null if everything is allowed.
 */
export function whyForbidden(request: SchedulerRequest, cluster: ClusterSettings): Forbidden | null {
  const { schedulers: rules } = cluster;
  if (rules === null) return forbidden(request, cluster, "nodes", "schedulers");
  const names = [
    ["account", "accounts", request.account, cluster.account],
    ["partition", "partitions", request.partition, cluster.target],
    ["qos", "qos", request.qos, cluster.qos],
    ["gres", "gres", request.gres === "gpu" ? null : request.gres, cluster.gres],
  ] as const satisfies readonly (readonly [string, keyof SchedulerRules, string | null, string | null])[];
  for (const [what, rule, asked, own] of names)
    if (asked !== null && asked !== own && !isAllowed(asked, rules[rule]))
      return forbidden(request, cluster, `${what} ${asked}`, `schedulers.${rule}`);
  for (const option of request.options) {
    const name = option.slice(2).split("=", 1)[0]!;
    if (!isAllowed(name, rules.options))
      return forbidden(request, cluster, `the option --${name}`, "schedulers.options");
  }
  const read = readSlurmOptions(request.options);
  return isRefusal(read) ? { message: `scheduler ${request.name}: ${read.message}`, rule: null } : null;
}

function isAllowed(name: string, allowed: Allowed): boolean {
  return allowed === "any" || allowed.includes(name);
}

function forbidden(
  { name }: SchedulerRequest,
  cluster: ClusterSettings,
  what: string,
  rule: string,
): Forbidden {
  const message = `scheduler ${name} asks for ${what}, which the settings of the cluster ${cluster.name} do not allow`;
  return { message, rule };
}
