import { z } from "zod";
import { readPages } from "../../engine/load-run.js";
import { resolveRun } from "../../report/lookup/run-reference.js";
import { type RunStats, StatsCounter } from "../../report/run-stats.js";
import type { Store } from "../../store/store.js";
import { operation } from "../operation.js";
import { definitionOf } from "../operator-words.js";
import { runReference } from "../schemas.js";

const count = z.object({
  attempts: z.number(),
  failed: z.number(),
  retries: z.number(),
  retry_rate: z.number(),
});

export const getStats = operation({
  name: "get_stats",
  summary: "count failures, retries and their cost over runs",
  description:
    "Adds up the logs of the named runs, or of all: attempts, retries, errors by code, timeouts, recovery scripts, time spent running and waiting. Rates are shares of attempts.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({
    run_id: z
      .union([z.array(runReference), runReference])
      .optional()
      .describe("Only these runs: their numbers, or last; by default all runs."),
  }),
  output: z.object({
    runs: z.number(),
    attempts: z.number(),
    retries: z.number(),
    retry_rate: z.number(),
    by_action: z.array(count.extend({ action: z.string() })),
    errors: z.array(z.object({ code: z.string(), class: z.string(), count: z.number(), rate: z.number() })),
    timeouts: z.object({ wall: z.number(), idle: z.number() }),
    attempts_until_success: z.number().nullable(),
    running_ms: z.number(),
    retry_waiting_ms: z.number(),
    recovery_scripts: z.object({ run: z.number(), failed: z.number() }),
  }),
  rest: { method: "GET", path: "/stats" },
  cli: [
    {
      words: "stats",
      positional: ["[run_id...]"],
      examples: ["daruma stats", "daruma stats 3 4", "daruma stats last --json"],
    },
  ],
  handler: async ({ store }, { run_id }) => {
    const references = run_id === undefined ? [] : [run_id].flat();
    const stats = await collectStats(
      store,
      await Promise.all(references.map((each) => resolveRun(store, each))),
    );
    return { ...stats, by_action: [...stats.by_action], errors: [...stats.errors] };
  },
});

const RUNS_PER_PAGE = 200;

/** Of these runs, or of every run in the store. */
async function collectStats(store: Store, runIds: readonly number[]): Promise<RunStats> {
  const counter = new StatsCounter();
  for await (const id of runIds.length > 0 ? new Set(runIds) : allRuns(store)) {
    const definition = await definitionOf(store, id);
    if (definition === null) continue;
    const steps = new Map((await store.readJobNames(id)).map((job) => [job.id, job.step]));
    await counter.addRun(definition, (job) => steps.get(job) ?? "", readPages(store, id, { afterSeq: 0 }));
  }
  return counter.result();
}

async function* allRuns(store: Store): AsyncGenerator<number> {
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    for (const { id } of page) yield id;
    if (page.length < RUNS_PER_PAGE) return;
    beforeId = page.at(-1)!.id;
  }
}
