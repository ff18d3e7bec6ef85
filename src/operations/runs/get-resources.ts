import { readFileSync } from "node:fs";
import { z } from "zod";
import type { ResourceRequirements } from "../../core/model/definition.js";
import type { LoggedEvent } from "../../core/model/events.js";
import { logFile } from "../../run/worker/attempt-paths.js";
import type { Store } from "../../store/store.js";
import { nameOf } from "../../tell/lookup/job-name.js";
import { requireRun, resolveRun } from "../../tell/lookup/run-reference.js";
import {
  type AttemptUsage,
  parseSamples,
  USAGE_EVENTS,
  USAGE_SAMPLE,
  UsageReader,
  type UsageSample,
} from "../../tell/resources/attempt-usage.js";
import { RESOURCE_GROUP, ResourceGroups } from "../../tell/resources/resource-groups.js";
import { RESOURCE_TIMELINE, timelineOf } from "../../tell/resources/resource-timeline.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { definitionOf } from "../operator-words.js";
import { recordOf, runReference } from "../schemas.js";

const MAX_GROUPS = 10_000;
const MAX_SERIES = 100;

const input = z.strictObject({
  run_id: runReference,
  limit: z.coerce.number().int().min(1).max(MAX_GROUPS).default(50).describe("Groups of jobs."),
  series: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_SERIES)
    .optional()
    .describe("Add a timeline, and samples of so many attempts."),
});
type ResourcesRequest = z.output<typeof input>;

export const getResources = operation({
  name: "get_resources",
  summary: "compare what jobs asked for with what they used",
  description:
    "Compares requested memory, processors and runtime with what attempts used, by groups of similar jobs. `findings`: who asked for ten times too much or came near a limit.",
  details:
    "Jobs with the same request and names that differ only in numbers form a group (`train_*`); `limit` groups are returned, those with findings first. `suggestion` has better `resource_requirements`. `series` adds what all attempts together used over time (`timeline`) and the samples of so many attempts (`resource_monitor`), the longest first.",
  role: "viewer",
  effect: "reads",
  input,
  output: z.object({
    run_id: z.number(),
    workflow: z.string(),
    status: z.string(),
    jobs: z.number(),
    attempts: z.number(),
    measured: z.number(),
    total: z.object({
      running_ms: z.number(),
      cpu_ms: z.number(),
      read_bytes: z.number(),
      written_bytes: z.number(),
    }),
    groups: z.array(recordOf(RESOURCE_GROUP)),
    groups_left_out: z.number(),
    timeline: recordOf(RESOURCE_TIMELINE).nullable(),
    series: z.array(
      z.object({
        job_id: z.number(),
        name: z.string(),
        attempt: z.number(),
        memory_limit_bytes: z.number().nullable(),
        samples: z.array(recordOf(USAGE_SAMPLE)),
      }),
    ),
  }),
  rest: { method: "GET", path: "/runs/{run_id}/resources" },
  cli: [
    {
      words: "resources",
      positional: ["run_id"],
      examples: ["daruma resources last", "daruma resources 3 --json"],
    },
  ],
  handler: reportResources,
});

async function reportResources(context: Context, request: ResourcesRequest) {
  const { store } = context;
  const run = await requireRun(store, await resolveRun(store, request.run_id));
  const definition = await definitionOf(store, run.id);
  const asked = new Map((definition?.steps ?? []).map(({ id, resources }) => [id, resources ?? null]));
  const jobs = new Map((await store.readJobNames(run.id)).map((job) => [job.id, job]));
  const askedBy = (job: number): ResourceRequirements | null => asked.get(jobs.get(job)?.step ?? "") ?? null;
  const reader = new UsageReader(askedBy);
  const groups = new ResourceGroups();
  const usages: AttemptUsage[] = [];
  for await (const page of usagePages(store, run.id))
    for (const logged of page) {
      const usage = reader.read(logged);
      if (usage === null) continue;
      usages.push(usage);
      groups.add(usage, jobs.get(usage.job)?.step ?? "", askedBy(usage.job));
    }
  const all = groups.result();
  return {
    run_id: run.id,
    workflow: run.workflow,
    status: run.status,
    jobs: new Set(usages.map(({ job }) => job)).size,
    attempts: usages.length,
    measured: usages.filter(({ cpuMs }) => cpuMs !== null).length,
    total: totalOf(usages),
    groups: all.slice(0, request.limit),
    groups_left_out: Math.max(0, all.length - request.limit),
    timeline: request.series === undefined ? null : timelineOf(usages),
    series: seriesOf(context, run, usages, request.series ?? 0).map(({ usage, samples }) => {
      const { step = "", scope = "root" } = jobs.get(usage.job) ?? {};
      const { job: job_id, attempt } = usage;
      const memory_limit_bytes = usage.asked?.memoryBytes ?? null;
      return { job_id, name: nameOf(step, scope), attempt, memory_limit_bytes, samples };
    }),
  };
}

const EVENTS_PER_PAGE = 20_000;

async function* usagePages(store: Store, runId: number): AsyncGenerator<readonly LoggedEvent[]> {
  for (let afterSeq = 0; ; ) {
    const page = await store.readEvents(runId, { afterSeq, limit: EVENTS_PER_PAGE, types: USAGE_EVENTS });
    yield page;
    if (page.length < EVENTS_PER_PAGE) return;
    afterSeq = page.at(-1)!.seq;
  }
}

function totalOf(usages: readonly AttemptUsage[]) {
  const sum = (value: (usage: AttemptUsage) => number | null): number =>
    usages.reduce((all, usage) => all + (value(usage) ?? 0), 0);
  return {
    running_ms: sum(({ durationMs }) => durationMs),
    cpu_ms: sum(({ cpuMs }) => cpuMs),
    read_bytes: sum(({ readBytes }) => readBytes),
    written_bytes: sum(({ writtenBytes }) => writtenBytes),
  };
}

/** The samples of the longest sampled attempts. */
function seriesOf(
  { outputDir }: Context,
  { id: runId, workflow_id: workflowId }: { readonly id: number; readonly workflow_id: number },
  usages: readonly AttemptUsage[],
  wanted: number,
) {
  const found: { readonly usage: AttemptUsage; readonly samples: readonly UsageSample[] }[] = [];
  if (wanted === 0) return found;
  const longest = [...usages].sort((first, second) => second.durationMs - first.durationMs);
  for (const usage of longest.slice(0, MAX_LOOKED_AT)) {
    const { job: jobId, attempt } = usage;
    const samples = samplesIn(logFile(outputDir, { workflowId, runId, jobId, attempt }, "usage"));
    if (samples.length > 0) found.push({ usage, samples });
    if (found.length === wanted) break;
  }
  return found;
}

/** If none of this many longest attempts was sampled, none was. */
const MAX_LOOKED_AT = 1_000;

function samplesIn(file: string) {
  try {
    return parseSamples(readFileSync(file, "utf8"));
  } catch {
    return [];
  }
}
