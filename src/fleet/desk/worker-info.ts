import { NOWHERE } from "../../core/model/worker-names.js";
import type { LocalPart } from "./pool-placement.js";
import type { PoolWorker } from "./pool-worker.js";

/** A worker as operators see it. */
export interface WorkerInfo {
  readonly id: string;
  readonly name: string;
  readonly slots: number;
  readonly used: number;
  readonly cpus: number;
  readonly memory_bytes: number;
  readonly gpus: number;
  readonly nodes: number;
  readonly tags: readonly string[];
  readonly actions: readonly string[];
  readonly node: string | null;
  readonly allocation: string | null;
  readonly restart: number | null;
  readonly draining: boolean;
  /** When it stops taking work; null if it stays. */
  readonly leaves_at: number | null;
  readonly registered_at: number;
  readonly last_seen_at: number;
  readonly attempts: readonly {
    readonly run_id: number;
    readonly job_id: number;
    readonly attempt: number;
    readonly recovery: boolean;
  }[];
}

export function remoteInfo(worker: PoolWorker, now: number, elapsed: number): WorkerInfo {
  const { offer } = worker;
  const timeLeft = worker.timeLeft(elapsed);
  return {
    id: worker.id,
    name: worker.label,
    slots: offer.slots,
    used: worker.used.slots,
    cpus: offer.cpus,
    memory_bytes: offer.memory_bytes,
    gpus: offer.gpus ?? 0,
    nodes: offer.nodes ?? 1,
    tags: offer.tags,
    actions: offer.actions,
    ...worker.at,
    draining: worker.draining,
    leaves_at: timeLeft === null ? null : now + timeLeft,
    registered_at: worker.registeredAt,
    last_seen_at: worker.lastSeenAt,
    attempts: [...worker.attempts].map(({ held }) => ({
      run_id: held.runId,
      job_id: held.jobId,
      attempt: held.attempt,
      recovery: held.recovery,
    })),
  };
}

export function localInfo({ name, slots, used, tags, extent }: LocalPart, now: number): WorkerInfo {
  return {
    id: name,
    name,
    slots,
    used,
    cpus: slots,
    memory_bytes: extent.memoryBytes === Infinity ? 0 : extent.memoryBytes,
    gpus: extent.gpus.length,
    nodes: 1,
    tags,
    actions: [],
    ...NOWHERE,
    draining: false,
    leaves_at: null,
    registered_at: now,
    last_seen_at: now,
    attempts: [],
  };
}
