import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { answerableFor } from "../../core/model/worker-names.js";
import {
  free,
  HEALTHY,
  type HealthState,
  stateOf,
  type WorkerHealth,
} from "../../core/quarantine/quarantine.js";
import { openHealthRows, readHealth, WORKERS } from "../../run/engine/health/health-rows.js";
import { runOfJobId } from "../../store/filters.js";
import { iso } from "../../tell/run-report.js";
import { type Context, WAITING_JOBS, type WorkerInfo } from "../context.js";
import { type Answer, operation } from "../operation.js";
import { nameOfPrincipal } from "../put-command.js";
import { key, recordOf } from "../schemas.js";
import { presentServers, serverItem } from "./present-servers.js";

const healthState = z.enum(["healthy", "quarantined", "probation"]);

const time = z.string().nullable();

/** Whether a worker gets attempts, and why not. */
const workerHealth = z.object({
  /** The name to release it by: the worker's, or `CLUSTER/NODE`; null: the server's own, which is never quarantined. */
  name: z.string().nullable(),
  state: healthState,
  since: time,
  until: time,
  times: z.number(),
  jobs: z.array(
    z.object({
      run_id: z.number(),
      job_id: z.number(),
      step: z.string(),
      attempt: z.number(),
      code: z.string(),
      completed_on: z.string(),
    }),
  ),
  freed: z.object({ at: z.string(), by: z.string().nullable(), reason: z.string() }).nullable(),
});

function healthItem(
  name: string | null,
  health: WorkerHealth | undefined,
  now: number,
): Answer<typeof workerHealth> {
  const { quarantine, freed } = health ?? HEALTHY;
  const state = stateOf({ quarantine, freed }, now);
  return {
    name,
    state,
    since: quarantine === null ? null : iso(quarantine.since),
    until: quarantine === null || state !== "quarantined" ? null : iso(quarantine.until),
    times: quarantine?.times ?? 0,
    jobs: (quarantine?.jobs ?? []).map(({ run, job, step, attempt, code, completedOn }) => ({
      run_id: run,
      job_id: job,
      step,
      attempt,
      code,
      completed_on: completedOn,
    })),
    freed: freed === null ? null : { ...freed, at: iso(freed.at) },
  };
}

const item = z.object({
  name: z.string(),
  connected: z.boolean(),
  slots: z.number(),
  used: z.number(),
  cpus: z.number(),
  memory_bytes: z.number().nullable(),
  gpus: z.number(),
  nodes: z.number(),
  tags: z.array(z.string()),
  node: z.string().nullable(),
  allocation: z.string().nullable(),
  restart: z.number().nullable(),
  draining: z.boolean(),
  leaves_at: z.string().nullable(),
  last_seen_at: z.string().nullable(),
  attempts: z.array(z.object({ run_id: z.number(), job_id: z.number(), attempt: z.number() })),
  health: workerHealth,
});

export const listWorkers = operation({
  name: "list_workers",
  summary: "list the workers connected to the server",
  description:
    "Lists the workers that the server can hand attempts to, with their resources, tags, health, when they last reported and what they are running. Without a server there are none.",
  details:
    "A worker in quarantine gets no new attempts: `health` says until when, and which jobs failed on it that others then completed. Workers and nodes in quarantine are listed even if they are not connected to this server (`connected: false`).",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({
    items: z.array(item),
    servers: z
      .array(z.object({ host: z.string(), pid: z.number(), url: z.string(), seen_at: z.string() }))
      .describe("The servers of the store that were heard of lately."),
  }),
  rest: { method: "GET", path: "/workers" },
  cli: [{ words: "workers", positional: [], examples: ["daruma workers --server http://127.0.0.1:7420"] }],
  store: "optional",
  async handler({ runner, store, now }) {
    const { rows, at } = await store.readShared(WORKERS, null, now());
    const found = new Map(rows.map((row) => [row.name, readHealth(row)]));
    const workers = runner?.listWorkers() ?? [];
    const here = new Set<string | null>();
    const items = workers.map((worker): Answer<typeof item> => {
      const name = answerableFor(worker.name, worker);
      here.add(name);
      return { ...connected(worker), health: healthItem(name, found.get(name ?? ""), at) };
    });
    for (const [name, health] of found)
      if (health.quarantine !== null && !here.has(name))
        items.push({ ...NOT_CONNECTED, name, health: healthItem(name, health, at) });
    return { items, servers: (await presentServers(store, now())).map(serverItem) };
  },
});

function connected(worker: WorkerInfo): Omit<Answer<typeof item>, "health"> {
  return {
    ...worker,
    connected: true,
    tags: worker.tags,
    attempts: worker.attempts.map((each) => ({ run_id: runOfJobId(each.job_id), ...each })),
    leaves_at: worker.leaves_at === null ? null : iso(worker.leaves_at),
    last_seen_at: iso(worker.last_seen_at),
  };
}

const NOT_CONNECTED = {
  connected: false,
  slots: 0,
  used: 0,
  cpus: 0,
  memory_bytes: null,
  gpus: 0,
  nodes: 0,
  tags: [],
  node: null,
  allocation: null,
  restart: null,
  draining: false,
  leaves_at: null,
  last_seen_at: null,
  attempts: [],
};

const MAX_NAME_CHARS = 400;
const MAX_REASON_CHARS = 1_000;

export const releaseWorker = operation({
  name: "release_worker",
  summary: "end the quarantine of a worker by hand",
  description: "Ends the quarantine of a worker, or of a node of a cluster, so that it gets attempts again.",
  role: "operator",
  audience: "people",
  effect: "changes",
  idempotent: true,
  input: z.strictObject({
    name: z
      .string()
      .min(1)
      .max(MAX_NAME_CHARS)
      .describe("A worker's name, or CLUSTER/NODE for a node of a cluster."),
    reason: z.string().trim().min(1).max(MAX_REASON_CHARS).describe("The reason; it is shown to others."),
    key,
  }),
  output: z.object({ name: z.string(), was: healthState, state: healthState }),
  rest: { method: "POST", path: "/workers/release/{name}", lastTakesSlashes: true },
  cli: [
    {
      words: "workers release",
      positional: ["name"],
      examples: ['daruma workers release gpu-1 --reason "the disk has room again"'],
    },
  ],
  async handler(context, { name: given, reason }) {
    const { store, now, principal } = context;
    const rows = openHealthRows(store, { now });
    await rows.readAll();
    const name = nameIn(context, rows.get(given) !== null, given);
    const by = nameOfPrincipal(principal);
    const states: HealthState[] = [];
    await rows.changeOne(name, (health, at) => {
      states.push(stateOf(health, at));
      return free(health, { at, by, reason });
    });
    return { name, was: states.at(-1)!, state: "healthy" as const };
  },
});

/** The name by which its quarantine is known: a worker is also found by the name that the log gives it. */
function nameIn({ runner }: Context, isKnown: boolean, given: string): string {
  if (isKnown) return given;
  for (const worker of runner?.listWorkers() ?? []) {
    const name = answerableFor(worker.name, worker);
    if (name !== null && (name === given || worker.name === given || worker.name.startsWith(`${given}/`)))
      return name;
  }
  throw new DarumaError("WORKER_NOT_FOUND", `there is no worker ${given}, and no quarantine of that name`, {
    hint: { typed: "List them with `daruma workers`.", asked: "List them with list_workers." },
  });
}

export const listWaiting = operation({
  name: "list_waiting",
  summary: "list what waits for a worker, and why",
  description: "Lists ready jobs that have no worker yet, once for each reason, most jobs first.",
  details:
    "Of the runs that this server runs, and of the first 10,000 ready jobs. `kind` is `worker` if no worker can run them, `slot` if those that can are busy. `run_id`, `job_id` and `step` name one of the jobs. A job that waits for a breaker, or for its turn in a workspace, is not among them. Without a server nothing waits.",
  role: "viewer",
  audience: "people",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({ items: z.array(recordOf(WAITING_JOBS)) }),
  rest: { method: "GET", path: "/waiting" },
  cli: [
    {
      words: "workers waiting",
      positional: [],
      examples: ["daruma workers waiting --server http://127.0.0.1:7420"],
    },
  ],
  store: "optional",
  handler: async ({ runner }) => ({ items: runner?.listWaiting() ?? [] }),
});
