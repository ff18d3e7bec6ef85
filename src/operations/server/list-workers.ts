import { z } from "zod";
import { answerableFor } from "../../core/model/worker-names.js";
import { readHealth, WORKERS } from "../../run/engine/health/health-rows.js";
import { runOfJobId } from "../../store/search-rules.js";
import { iso } from "../../tell/run-report.js";
import type { WorkerInfo } from "../context.js";
import { type Answer, operation } from "../operation.js";
import { presentServers, serverItem } from "./present-servers.js";
import { healthItem, workerHealth } from "./worker-health.js";

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
  withoutStore: "empty",
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
