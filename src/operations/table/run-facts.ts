import { z } from "zod";
import { resolveRun } from "../../report/lookup/run-reference.js";
import { operation } from "../operation.js";
import { collectStats } from "../runs/collect-stats.js";
import { runDefinition } from "../runs/run-details.js";
import { json, runReference } from "./schemas.js";

export const getRunDefinition = operation({
  name: "get_run_definition",
  summary: "print the definition that a run was frozen with",
  description:
    "The definition that the run was started with, as Daruma normalised it, with its hash, inputs and options. It never changes once the run has started, whatever becomes of the file.",
  role: "viewer",
  effect: "reads",
  input: z.strictObject({ run_id: runReference }),
  output: z.object({
    run_id: z.number(),
    workflow: z.string(),
    workflow_id: z.number(),
    definition_hash: z.string(),
    inputs: json,
    options: json,
    definition: z.looseObject({}),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/definition" },
  cli: [{ words: "definition", positional: ["run_id"], examples: ["daruma definition 3"] }],
  handler: (context, { run_id }) => runDefinition(context, run_id),
});

const count = z.object({
  attempts: z.number(),
  failed: z.number(),
  retries: z.number(),
  retry_rate: z.number(),
});

export const getStats = operation({
  name: "get_stats",
  summary: "count what failed, what was retried and what it cost, over runs",
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
