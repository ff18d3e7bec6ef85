import type { BreakerDefinition, NotifyRule } from "../core/model/definition.js";
import type { ChannelSettings } from "./channels.js";
import type { LimitSettings } from "./limits.js";
import { NO_RETENTION, type RetentionSettings } from "./retention.js";

/** What `daruma.config.yaml` says, with its defaults filled in. */
export interface Settings {
  readonly clusters: readonly ClusterSettings[];
  /** Those that all workflows share. */
  readonly breakers: readonly BreakerDefinition[];
  readonly limits: LimitSettings;
  readonly retention: RetentionSettings;
  /** Ways to reach people. */
  readonly channels: readonly ChannelSettings[];
  /** Rules for messages that hold for all workflows. */
  readonly notify: readonly NotifyRule[];
}

/** The settings of a place without a settings file. */
export const NO_SETTINGS: Settings = {
  ...{ clusters: [], breakers: [], limits: {}, retention: NO_RETENTION },
  ...{ channels: [], notify: [] },
};

export const CLUSTER_TYPES = ["slurm", "gridengine"] as const;
export type ClusterType = (typeof CLUSTER_TYPES)[number];

/** A batch system that a server may ask for machines. */
export interface ClusterSettings {
  readonly name: string;
  readonly type: ClusterType;
  /** Steps whose `runs_on` asks for some of these, and for nothing else, run there. */
  readonly tags: readonly string[];
  readonly account: string | null;
  /** The partition of Slurm or the queue of Grid Engine; null: the site's default. */
  readonly target: string | null;
  readonly qos: string | null;
  /** The kind of GPU, to which the number is added. */
  readonly gres: string | null;
  readonly parallelEnvironment: string | null;
  readonly memoryResource: string | null;
  /** Further options of the submission, as they are. */
  readonly options: readonly string[];
  /** Shell lines that come before the worker in the script. */
  readonly setup: readonly string[];
  /** How the worker is started on a node. */
  readonly program: readonly string[];
  /** The folder for scripts, token files and logs of allocations; nodes must see it. Null: the output folder. */
  readonly folder: string | null;
  /** The address at which nodes reach the server; null: the one that the server gives. */
  readonly server: string | null;
  readonly allocation: AllocationSettings;
  readonly limits: ClusterLimits;
  /** Make allocations for ready jobs without being asked. */
  readonly autoSchedule: boolean;
  /** What workflow files may ask for with schedulers of their own; null: their jobs do not run here. */
  readonly schedulers: SchedulerRules | null;
}

/** Names that are allowed beside those that the cluster itself has. */
export type Allowed = readonly string[] | "any";

export interface SchedulerRules {
  readonly accounts: Allowed;
  readonly partitions: Allowed;
  readonly qos: Allowed;
  readonly gres: Allowed;
  /** Long names of options of the submission, without dashes. */
  readonly options: Allowed;
  /** The longest that a worker without work may stay because a file wants that. */
  readonly idleExitMs: number;
}

export interface AllocationSettings {
  /** The most that one allocation asks of a node; null: what the scheduler says a node has. */
  readonly cpus: number | null;
  readonly memoryBytes: number | null;
  readonly gpus: number | null;
  readonly runtimeMs: number;
  /** What a job is thought to take that says nothing of its `runtime` or `memory`. */
  readonly jobRuntimeMs: number;
  readonly jobMemoryBytes: number;
  /** How long before its end a worker takes nothing new. */
  readonly drainMs: number;
  /** How long a worker without work stays. */
  readonly idleExitMs: number;
  /** What an allocation asks for on each node even if its jobs need less; missing: what they need. */
  readonly least?: { readonly cpus: number; readonly memoryBytes: number; readonly gpus: number };
  /** Jobs that a worker runs at a time; missing: as many as it has processors for. */
  readonly slots?: number;
}

export interface ClusterLimits {
  readonly maxAllocations: number;
  /** Limit for all allocations together; null: none. */
  readonly maxCpus: number | null;
  /** Jobs that must wait before another allocation is made beside one that lives. */
  readonly threshold: number;
  /** Time between one submission and the next. */
  readonly cooldownMs: number;
}

/** The cluster that a step with these tags runs on: the first that has all of them. Null: it asks for none. */
export function clusterFor<C extends Pick<ClusterSettings, "tags">>(
  tags: readonly string[],
  clusters: readonly C[],
): C | null {
  if (tags.length === 0) return null;
  return clusters.find((cluster) => tags.every((tag) => cluster.tags.includes(tag))) ?? null;
}
