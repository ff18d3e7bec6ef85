import { closeSync, constants, fstatSync, openSync, readSync } from "node:fs";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { allocationPaths } from "../../fleet/allocations/scale/allocation-spec.js";
import { type AllocationRow, changeAllocation, changeCluster } from "../../store/cluster-rows.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { type Answer, operation } from "../operation.js";
import { flag, key, limit, name } from "../schemas.js";

const time = z.string().nullable();

/** An allocation as all interfaces show it. */
const allocationItem = z.object({
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

function toItem(row: AllocationRow): Answer<typeof allocationItem> {
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

const allocationReference = z
  .string()
  .min(1)
  .max(MAX_REFERENCE_CHARS)
  .describe("Its id, CLUSTER/ID, or key.");

/**
 * Finds an allocation by its key or by the scheduler's id. If several clusters have the same id, the newest is meant.
 */
async function findAllocation({ store }: Context, reference: string): Promise<AllocationRow> {
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

const suspension = z.object({
  cluster: z.string(),
  kind: z.string(),
  message: z.string(),
  since: z.string(),
});

export const listAllocations = operation({
  name: "list_allocations",
  summary: "list allocations on clusters, newest first",
  description: "Lists allocations on clusters, or one with its log, and suspended clusters.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    allocation: allocationReference.optional(),
    cluster: name.optional().describe("Only of this cluster."),
    live: flag.default(false).describe("Only unfinished ones."),
    limit,
  }),
  output: z.object({
    items: z.array(allocationItem.extend({ log: z.string().optional() })),
    suspended: z.array(suspension),
    impossible: z
      .array(
        z.object({ cluster: z.string(), reason: z.string(), jobs: z.number(), job_ids: z.array(z.number()) }),
      )
      .describe("Ready jobs that no allocation can take; at most 20 ids each."),
  }),
  rest: { method: "GET", path: "/allocations" },
  cli: [
    { words: "allocations list", positional: [], examples: ["daruma allocations list --live"] },
    {
      words: "allocations show",
      positional: ["allocation"],
      summary: "show one allocation",
      examples: ["daruma allocations show 1234"],
    },
    {
      words: "allocations logs",
      positional: ["allocation"],
      summary: "print what the worker of an allocation printed",
      examples: ["daruma allocations logs hpc/1234"],
    },
  ],
  store: "optional",
  handler: async (context, { allocation, cluster, live, limit: most }) => {
    const { store } = context;
    const impossible = impossibleIn(context, cluster);
    const suspended = (await store.listClusters()).flatMap(({ name: each, suspended: found }) =>
      found === null || (cluster !== undefined && each !== cluster)
        ? []
        : [{ cluster: each, kind: found.kind, message: found.message, since: iso(found.at) }],
    );
    if (allocation !== undefined) {
      const row = await findAllocation(context, allocation);
      const log = readEnd(allocationPaths(row.folder).logFile);
      return { items: [{ ...toItem(row), log }], suspended, impossible };
    }
    const filter = { live, limit: most, ...(cluster === undefined ? {} : { cluster }) };
    return { items: (await store.listAllocations(filter)).map(toItem), suspended, impossible };
  },
});

const MAX_NAMED_JOBS = 20;

/** Impossible jobs by cluster and reason. A sweep of thousands of jobs has one entry. */
function impossibleIn({ clusters }: Context, only: string | undefined) {
  const found = new Map<string, { cluster: string; reason: string; jobs: number; job_ids: number[] }>();
  for (const { cluster, jobId, reason } of clusters?.impossible() ?? []) {
    if (only !== undefined && cluster !== only) continue;
    const same = found.get(`${cluster} ${reason}`) ?? { cluster, reason, jobs: 0, job_ids: [] };
    same.jobs += 1;
    if (same.job_ids.length < MAX_NAMED_JOBS) same.job_ids.push(jobId);
    found.set(`${cluster} ${reason}`, same);
  }
  return [...found.values()];
}

/** The end of the log is what people look for. */
const MAX_LOG_BYTES = 64 * 1024;

/** Nothing where there is no log: it has not begun, or lies where this process cannot see it. */
function readEnd(file: string): string {
  let descriptor: number | null = null;
  try {
    // A pipe in its place, which any step of this user could put there, would be waited for.
    descriptor = openSync(file, constants.O_RDONLY | constants.O_NONBLOCK);
    const { size } = fstatSync(descriptor);
    const bytes = Buffer.alloc(Math.min(size, MAX_LOG_BYTES));
    const read = readSync(descriptor, bytes, 0, bytes.length, size - bytes.length);
    return bytes.subarray(0, read).toString("utf8");
  } catch {
    return "";
  } finally {
    if (descriptor !== null) closeSync(descriptor);
  }
}

export const controlAllocations = operation({
  name: "control_allocations",
  summary: "end an allocation, or let a suspended cluster submit again",
  description:
    "Ends an allocation (`drain`: after what it runs; `cancel`: that is restarted elsewhere), or lets a suspended cluster submit again (`resume`).",
  details:
    "The server that looks after an allocation ends it within seconds; what its worker hands back is restarted elsewhere, at no cost to its retries. A cluster is suspended after three allocations in a row ended without a worker, after three whose workers could run none of the waiting jobs, after somebody else canceled one, and after the scheduler refused one for good. Resuming it also lets it use nodes again that were left out.",
  role: "operator",
  effect: "changes",
  idempotent: true,
  input: z.strictObject({
    action: z.enum(["drain", "cancel", "resume"]).describe("What to do."),
    target: allocationReference.describe("An allocation; for resume a cluster."),
    key,
  }),
  output: z.object({ target: z.string(), state: z.string() }),
  rest: { method: "POST", path: "/allocations/control" },
  cli: [
    {
      words: "allocations cancel",
      positional: ["target"],
      preset: { action: "cancel" },
      summary: "end an allocation; what it runs is restarted elsewhere",
      examples: ["daruma allocations cancel hpc/1234"],
    },
    {
      words: "allocations drain",
      positional: ["target"],
      preset: { action: "drain" },
      summary: "end an allocation once it has finished what it runs",
      examples: ["daruma allocations drain 1234"],
    },
    {
      words: "allocations resume",
      positional: ["target"],
      preset: { action: "resume" },
      summary: "let a suspended cluster submit allocations again",
      examples: ["daruma allocations resume hpc"],
    },
  ],
  handler: (context, { action, target }) =>
    action === "resume" ? resume(context, target) : end(context, target, action),
});

async function end(context: Context, target: string, action: "drain" | "cancel") {
  const { key, cluster } = await findAllocation(context, target);
  const cancel = action === "cancel" ? "now" : "drain";
  await changeAllocation(context.store, cluster, key, (row, before) => ({
    cluster: before,
    row: { ...row, cancel: row.cancel === "now" ? "now" : cancel },
  }));
  context.clusters?.wake(cluster);
  const { state } = (await context.store.readAllocation(key))!;
  return { target: key, state: state === "ended" ? state : "ending" };
}

async function resume({ store, clusters }: Context, target: string) {
  const known = (await store.listClusters()).map((each) => each.name);
  if (![...known, ...(clusters?.settings ?? []).map((each) => each.name)].includes(target))
    throw new DarumaError("CLUSTER_NOT_FOUND", `there is no cluster ${target}`);
  let wasSuspended = false;
  await changeCluster(store, target, (cluster) => {
    wasSuspended = cluster.suspended !== null;
    const fresh = { suspended: null, failures: 0, retry_at: null, excluded: [] };
    return { cluster: { ...cluster, ...fresh }, allocations: [] };
  });
  clusters?.wake(target);
  return { target, state: wasSuspended ? "resumed" : "was not suspended" };
}
