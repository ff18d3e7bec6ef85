import type { BreakerDefinition, NotifyRule } from "../../core/model/definition.js";
import type { ChannelSettings } from "./channels.js";
import type { LimitSettings } from "./limits.js";
import { NO_RETENTION, type RetentionSettings } from "./retention.js";

/** The content of `daruma.config.yaml`, with defaults filled in. */
export interface Settings {
  readonly clusters: readonly ClusterSettings[];
  /** Breakers that all workflows share. */
  readonly breakers: readonly BreakerDefinition[];
  readonly limits: LimitSettings;
  readonly retention: RetentionSettings;
  /** Ways to reach people. */
  readonly channels: readonly ChannelSettings[];
  /** Rules for messages that apply to all workflows. */
  readonly notify: readonly NotifyRule[];
}

/** The settings where no settings file exists. */
export const NO_SETTINGS: Settings = {
  ...{ clusters: [], breakers: [], limits: {}, retention: NO_RETENTION },
  ...{ channels: [], notify: [] },
};

export const CLUSTER_TYPES = ["slurm", "gridengine"] as const;
export type ClusterType = (typeof CLUSTER_TYPES)[number];

/** A batch system from which a server may request machines. */
export interface ClusterSettings {
  readonly name: string;
  readonly type: ClusterType;
  /** Steps run on this cluster if all tags of their `runs_on` are among these. */
  readonly tags: readonly string[];
  readonly account: string | null;
  /** The partition of Slurm or the queue of Grid Engine; null for the site's default. */
  readonly target: string | null;
  readonly qos: string | null;
  /** The type of GPU; the count is appended. */
  readonly gres: string | null;
  readonly parallelEnvironment: string | null;
  readonly memoryResource: string | null;
  /** Further submission options, passed unchanged. */
  readonly options: readonly string[];
  /** Shell lines that run in the script before the worker. */
  readonly setup: readonly string[];
  /** The command that starts the worker on a node. */
  readonly program: readonly string[];
  /** The folder for scripts, token files and logs of allocations, which nodes must see. Null for the output folder. */
  readonly folder: string | null;
  /** The address at which nodes reach the server. Null for the address that the server announces. */
  readonly server: string | null;
  readonly allocation: AllocationSettings;
  readonly limits: ClusterLimits;
  /** Whether allocations for ready jobs are made automatically. */
  readonly autoSchedule: boolean;
  /** What workflow files may request through their own schedulers. Null if the jobs of such files do not run here. */
  readonly schedulers: SchedulerRules | null;
}

/** Names that are allowed in addition to the cluster's own. */
export type Allowed = readonly string[] | "any";

export interface SchedulerRules {
  readonly accounts: Allowed;
  readonly partitions: Allowed;
  readonly qos: Allowed;
  readonly gres: Allowed;
  /** Long names of submission options, without dashes. */
  readonly options: Allowed;
  /** The longest time that a file may keep an idle worker. */
  readonly idleExitMs: number;
}

export interface AllocationSettings {
  /** The most that one allocation requests per node. Null for what the scheduler reports for a node. */
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  readonly gpus: number | null;
  readonly runtimeMs: number;
  /** Assumed for a job that does not specify its `runtime` or `memory`. */
  readonly jobRuntimeMs: number;
  readonly jobMemoryBytes: number;
  /** How long before the end of its allocation a worker stops taking jobs. */
  readonly drainMs: number;
  /** How long an idle worker stays. */
  readonly idleExitMs: number;
  /** The least that an allocation requests per node, even if its jobs need less. By default what they need. */
  readonly least?: { readonly cpus: number; readonly memoryBytes: number; readonly gpus: number };
  /** How many jobs a worker runs at a time. By default one per processor. */
  readonly slots?: number;
}

export interface ClusterLimits {
  readonly maxAllocations: number;
  /** Limit for all allocations together; null for none. */
  readonly maxCpus: number | null;
  /** How many jobs must wait before another allocation is added to a live one. */
  readonly threshold: number;
  /** Time between submissions. */
  readonly cooldownMs: number;
}

/** The cluster for a step with these tags: the first that has all of them. Null if there is none. */
export function clusterFor<C extends Pick<ClusterSettings, "tags">>(
  tags: readonly string[],
  clusters: readonly C[],
): C | null {
  if (tags.length === 0) return null;
  return clusters.find((cluster) => tags.every((tag) => cluster.tags.includes(tag))) ?? null;
}
