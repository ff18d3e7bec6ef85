import { z } from "zod";
import { iso } from "../../core/text/iso-time.js";
import { text } from "../../core/text/shape.js";
import { resolveRun } from "../../tell/lookup/run-reference.js";
import { collectStatistics, RUN_OUTCOMES, STATISTICS } from "../../tell/statistics.js";
import type { Context } from "../context.js";
import { rollUpHere } from "../failures/list-failures.js";
import { type Answer, operation } from "../operation.js";
import { name, recordOf, runReference } from "../schemas.js";
import { searchFields, searchOf } from "../search-fields.js";

const HOUR_MS = 3_600_000;
const BUCKETS = { hour: HOUR_MS, day: 24 * HOUR_MS } as const;

const input = z.strictObject({
  run_id: z
    .union([z.array(runReference), runReference])
    .optional()
    .describe("Only these runs: their numbers, or last; by default all runs."),
  workflow: name.optional().describe("Only runs of the workflow with this name."),
  ...{ since: searchFields.since, until: searchFields.until, label: searchFields.label },
  bucket: z.enum(["hour", "day"]).default("day").describe("For over_time: how long each piece of time is."),
});

const { runs, outcomes, over_time: _, ...found } = recordOf(STATISTICS).shape;
const statistics = z.object({
  since: z.string().nullable(),
  until: z.string().nullable(),
  runs,
  outcomes,
  bucket: z.enum(["hour", "day"]),
  over_time: z.array(recordOf({ ...RUN_OUTCOMES, at: text })),
  ...found,
});
export type StatsAnswer = Answer<typeof statistics>;

export const getStats = operation({
  name: "get_stats",
  summary: "count how runs ended, what rescued them and what failures cost",
  description:
    "Counts runs by outcome and over time, what each rung of the ladder rescued, attempts, retries, errors by code, and what failures cost, by workflow and worker.",
  details:
    "A run that completed is `at_once` if it met no failure, `handled` if a failure of it was handled (by an edge, or as one to go on after), else `rescued`. `rungs` is counted as in the failure book: jobs that it rescued, and jobs that it did not (`not_rescued`); to ask somebody and to give a job up are left out. `lost_ms` is the time in attempts that did not succeed, `lost` of a worker its failures of class infrastructure. `decisions` are those that people made on holds and questions, and how long they were waited for at the median. `models` is what model steps say of their tokens. Rates are shares of attempts. Imported and pruned runs are not counted.",
  role: "viewer",
  effect: "reads",
  input,
  output: statistics,
  rest: { method: "GET", path: "/stats" },
  cli: [
    {
      words: "stats",
      positional: ["[run_id...]"],
      examples: ["daruma stats", "daruma stats --since 7d --workflow release", "daruma stats last --json"],
    },
  ],
  handler: getStatistics,
});

async function getStatistics(context: Context, request: z.output<typeof input>) {
  const { store, now } = context;
  await rollUpHere(context);
  const references = request.run_id === undefined ? [] : [request.run_id].flat();
  const runIds = await Promise.all(references.map((each) => resolveRun(store, each)));
  const bucketMs = BUCKETS[request.bucket];
  const filter = {
    ...searchOf(request, now()),
    bucketMs,
    ...(references.length === 0 ? {} : { runIds: [...new Set(runIds)] }),
  };
  const { over_time, ...found } = await collectStatistics(store, filter);
  return {
    ...found,
    since: filter.since === undefined ? null : iso(filter.since),
    until: filter.until === undefined ? null : iso(filter.until),
    bucket: request.bucket,
    over_time: over_time.map(({ at, ...outcomes }) => ({ at: iso(at), ...outcomes })),
  };
}
