import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { AllocationRow } from "../../store/cluster-rows.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import type { Answer } from "../operation.js";

const time = z.string().nullable();

/** An allocation as all interfaces show it. */
export const allocationItem = z.object({
  key: z.string(),
  cluster: z.string(),
  id: z.string().nullable(),
  restart: z.number(),
  state: z.string(),
  nodes: z.array(z.string()),
  cpus: z.number(),
  memory_bytes: z.number(),
  gpus: z.number(),
  num_nodes: z.number(),
  runtime_ms: z.number(),
  job_id: z.number().nullable(),
  reason: z.string(),
  server: z.string(),
  cancel: z.string().nullable(),
  created_at: z.string(),
  submitted_at: time,
  started_at: time,
  worker_came_at: time,
  ended_at: time,
  end: z.object({ code: z.string(), message: z.string() }).nullable(),
});

export function toItem(row: AllocationRow): Answer<typeof allocationItem> {
  const { key, cluster, id, restart, state, nodes, shape, job_id, reason, server, cancel } = row;
  const at = (ms: number | null): string | null => (ms === null ? null : iso(ms));
  return {
    ...{ key, cluster, id, restart, state, nodes },
    ...{ cpus: shape.cpus, memory_bytes: shape.memoryBytes, gpus: shape.gpus },
    ...{ num_nodes: shape.nodes, runtime_ms: shape.runtimeMs, job_id, reason, server, cancel },
    created_at: iso(row.created_at),
    submitted_at: at(row.submitted_at),
    started_at: at(row.started_at),
    worker_came_at: at(row.pilot_at),
    ended_at: at(row.ended_at),
    end: row.outcome,
  };
}

const MAX_REFERENCE_CHARS = 200;

export const allocationReference = z
  .string()
  .min(1)
  .max(MAX_REFERENCE_CHARS)
  .describe("Its id, CLUSTER/ID, or key.");

/**
 * Finds an allocation by its key or by the scheduler's id. If several clusters have the same id, the newest is meant.
 */
export async function findAllocation({ store }: Context, reference: string): Promise<AllocationRow> {
  const byKey = await store.readAllocation(reference);
  if (byKey !== null) return byKey;
  const slash = reference.indexOf("/");
  const cluster = slash < 0 ? undefined : reference.slice(0, slash);
  const id = reference.slice(slash + 1);
  const rows = await store.listAllocations(cluster === undefined ? {} : { cluster });
  const found = rows.find((row) => row.id === id);
  if (found === undefined)
    throw new DarumaError("ALLOCATION_NOT_FOUND", `there is no allocation ${reference}`);
  return found;
}
