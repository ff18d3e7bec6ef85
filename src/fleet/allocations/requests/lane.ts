import { createHash } from "node:crypto";
import type { SchedulerRequest } from "../../../core/model/batch/scheduler-request.js";
import type { Definition, StepDefinition } from "../../../core/model/definition.js";
import type { ClusterSettings } from "../../../file/settings/settings.js";

/**
 * Jobs that request the same through a scheduler of their file. Their workers have this tag only and take no other
 * jobs.
 */
export interface Lane {
  readonly tag: string;
  readonly request: SchedulerRequest;
}

const MAX_NAME_CHARS = 40;
const HASH_CHARS = 10;

/** The lane's tag. Files that request the same under the same name share it. */
export function laneTag(cluster: string, request: SchedulerRequest): string {
  const name = request.name.replaceAll(/[^A-Za-z0-9_.-]/g, "-").slice(0, MAX_NAME_CHARS);
  const { tag: _tag, ...asked } = request;
  const hash = createHash("sha256").update(JSON.stringify(asked)).digest("hex").slice(0, HASH_CHARS);
  return `${cluster}/${name}-${hash}`;
}

/** The lane of a step whose request a cluster has accepted. Null if it has none. */
export function laneOf(
  { scheduler, runsOn }: Pick<StepDefinition, "scheduler" | "runsOn">,
  { schedulers = [] }: Pick<Definition, "schedulers">,
): Lane | null {
  if (scheduler === undefined) return null;
  const request = byName(schedulers).get(scheduler);
  const tag = request?.tag;
  return request === undefined || tag === undefined || !runsOn.includes(tag) ? null : { tag, request };
}

const known = new WeakMap<readonly SchedulerRequest[], ReadonlyMap<string, SchedulerRequest>>();

/** Requests by name. Cached, because every ready job is looked up in each round. */
function byName(schedulers: readonly SchedulerRequest[]): ReadonlyMap<string, SchedulerRequest> {
  const found = known.get(schedulers);
  if (found !== undefined) return found;
  const made = new Map(schedulers.map((request) => [request.name, request]));
  known.set(schedulers, made);
  return made;
}

/** The cluster of a lane; null if no cluster has that name now. */
export function clusterOfLane<C extends Pick<ClusterSettings, "name">>(
  tag: string,
  clusters: readonly C[],
): C | null {
  return clusters.find(({ name }) => tag.startsWith(`${name}/`)) ?? null;
}

/** The lane among an allocation's tags; null if it takes any job. */
export function laneAmong(tags: readonly string[], cluster: string): string | null {
  return tags.find((tag) => tag.startsWith(`${cluster}/`)) ?? null;
}

/** The cluster's settings for a lane: what the file requests, within what the settings allow. */
export function settingsFor(settings: ClusterSettings, { tag, request }: Lane): ClusterSettings {
  const { allocation, schedulers } = settings;
  const idleMs = request.idleExitMs ?? allocation.idleExitMs;
  return {
    ...settings,
    tags: [tag],
    account: request.account ?? settings.account,
    target: request.partition ?? settings.target,
    qos: request.qos ?? settings.qos,
    gres: request.gres === null || request.gres === "gpu" ? settings.gres : request.gres,
    options: [...settings.options, ...request.options],
    allocation: {
      ...allocation,
      runtimeMs: request.runtimeMs ?? allocation.runtimeMs,
      drainMs: Math.max(allocation.drainMs, request.drainMs ?? 0),
      idleExitMs: Math.max(MIN_IDLE_MS, Math.min(idleMs, schedulers?.idleExitMs ?? allocation.idleExitMs)),
      least: {
        cpus: request.cpus ?? 0,
        memoryBytes: request.memoryBytes ?? 0,
        gpus: request.gpus ?? 0,
      },
      ...(request.maxParallelJobs === null ? {} : { slots: request.maxParallelJobs }),
    },
  };
}

/** The least idle time. A worker that leaves before it has asked for work is useless. */
const MIN_IDLE_MS = 1_000;
