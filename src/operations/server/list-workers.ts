import { z } from "zod";
import { iso } from "../../report/run-report.js";
import { operation } from "../operation.js";

export const listWorkers = operation({
  name: "list_workers",
  summary: "list the workers connected to the server",
  description:
    "Lists the workers that the server can hand attempts to, with their resources, tags, when they last reported and what they are running. Without a server there are none.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({}),
  output: z.object({
    items: z.array(
      z.object({
        name: z.string(),
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
        last_seen_at: z.string(),
        attempts: z.array(z.object({ job_id: z.number(), attempt: z.number() })),
      }),
    ),
  }),
  rest: { method: "GET", path: "/workers" },
  cli: [{ words: "workers", positional: [], examples: ["daruma workers --server http://127.0.0.1:7420"] }],
  withoutStore: "empty",
  handler: async ({ runner }) => ({
    items: (runner?.listWorkers() ?? []).map((worker) => ({
      ...worker,
      tags: [...worker.tags],
      attempts: worker.attempts.map((each) => ({ ...each })),
      leaves_at: worker.leaves_at === null ? null : iso(worker.leaves_at),
      last_seen_at: iso(worker.last_seen_at),
    })),
  }),
});
