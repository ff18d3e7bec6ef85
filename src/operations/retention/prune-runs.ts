import { rm } from "node:fs/promises";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import { parseDuration, parseMemorySize } from "../../file/read/amounts.js";
import {
  FINAL_STATUSES,
  keepsAll,
  NO_RETENTION,
  type RetentionRule,
  type RetentionSettings,
} from "../../file/settings/retention.js";
import { iso } from "../../tell/run-report.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { flag, listOf, runStatus } from "../schemas.js";
import { applyRetention } from "./apply-retention.js";
import { type EndedRows, endedBefore } from "./ended-rows.js";
import { type Planned, planRetention } from "./plan-retention.js";
import { countsOf, noRules } from "./retention-passes.js";
import { RunFiles } from "./run-files.js";

const MAX_KEPT = 1_000_000_000;

const input = z.strictObject({
  older_than: z
    .string()
    .max(40)
    .optional()
    .describe("A duration such as 12h or 30d: only runs that ended longer ago. 0s: every finished run."),
  keep_last: z.coerce
    .number()
    .int()
    .min(0)
    .max(MAX_KEPT)
    .optional()
    .describe("Keep this many runs of each workflow, those that ended last, and remove the rest."),
  max_size: z
    .string()
    .max(40)
    .optional()
    .describe("A size such as 10g: remove the oldest runs until the files of the others take no more."),
  status: listOf(z.enum(FINAL_STATUSES))
    .optional()
    .describe("Only runs with these statuses, separated by commas."),
  dry_run: flag.default(false).describe("Only list what would be removed."),
});
type PruneRequest = z.output<typeof input>;

const removedRun = z.object({
  run_id: z.number(),
  workflow: z.string(),
  status: runStatus,
  finished_at: z.string(),
  because: z.string(),
  bytes: z.number(),
});

export const pruneRuns = operation({
  name: "prune_runs",
  summary: "remove runs by age, number or size, with their logs and artifacts",
  description:
    "Permanently removes runs that ended before the given age, or that exceed a number or a size: their log, jobs, output files and artifacts. With `dry_run` nothing is removed.",
  details:
    "Without older_than, keep_last and max_size the rules are those of `retention` in the settings, which a server also follows by itself. Allocations of clusters and tokens that have been over for as long are removed too. Unfinished runs are never removed, nor are runs that an unfinished run was made from or is the parent of, or that an unfinished campaign has. The age of an imported run counts from its original end; rules of the settings leave imported runs and those that ended within the last hour alone.",
  audience: "people",
  role: "admin",
  effect: "destroys",
  input,
  output: z.object({
    dry_run: z.boolean(),
    rules: z.enum(["request", "settings"]),
    ended_before: z.string().nullable(),
    removed: z.array(removedRun),
    logs: z.array(removedRun).describe("Runs of which only the logs are removed."),
    artifacts: z.array(removedRun).describe("Runs of which only the artifacts are removed."),
    bytes: z.number().describe("What all these files take."),
    kept: z.array(z.object({ run_id: z.number(), because: z.string() })),
    allocations: z.number().describe("Ended allocations of clusters, with their logs."),
    tokens: z.number().describe("Tokens that were revoked or had expired."),
  }),
  rest: { method: "POST", path: "/prune" },
  cli: [
    {
      words: "prune",
      positional: [],
      examples: [
        "daruma prune --older-than 30d --dry-run",
        "daruma prune --older-than 7d --status completed",
        "daruma prune --keep-last 100 --max-size 20g",
        "daruma prune --dry-run",
      ],
    },
  ],
  handler: prune,
});

async function prune(context: Context, request: PruneRequest) {
  const { store, outputDir } = context;
  const now = context.now();
  const asked = ruleOf(request);
  const rules = asked === null ? await rulesOfSettings(context, request) : { ...NO_RETENTION, runs: asked };
  const place = { store, outputDir, now, files: new RunFiles(outputDir), byItself: asked === null };
  const plan = await planRetention(place, rules);
  const age = rules.runs?.olderThanMs ?? null;
  const past = age === null ? NOTHING_PAST : await endedBefore(store, now - age);
  const done = request.dry_run ? plan : await applyRetention(place, plan);
  if (!request.dry_run) {
    await store.deleteEnded({ allocations: past.allocations.map(({ key }) => key), tokens: past.tokens });
    for (const { folder } of past.allocations) await rm(folder, { recursive: true, force: true });
  }
  return {
    dry_run: request.dry_run,
    rules: asked === null ? ("settings" as const) : ("request" as const),
    ended_before: age === null ? null : iso(now - age),
    removed: done.runs.map(shown),
    logs: done.logs.map(shown),
    artifacts: done.artifacts.map(shown),
    bytes: countsOf(done).bytes,
    kept: done.kept.map(({ runId, because }) => ({ run_id: runId, because })),
    allocations: past.allocations.length,
    tokens: past.tokens.length,
  };
}

function shown({ run, because, bytes }: Planned) {
  const { id, workflow, status, finishedAt } = run;
  return { run_id: id, workflow, status, finished_at: iso(finishedAt), because, bytes };
}

/** The rule of a request; null if it names no bound. */
function ruleOf({ older_than, keep_last, max_size, status }: PruneRequest): RetentionRule | null {
  if (older_than === undefined && keep_last === undefined && max_size === undefined) return null;
  return {
    olderThanMs: older_than === undefined ? null : ageOf(older_than),
    keepLast: keep_last ?? null,
    maxBytes: max_size === undefined ? null : bytesOf(max_size),
    status: status ?? FINAL_STATUSES,
  };
}

async function rulesOfSettings(context: Context, { status }: PruneRequest): Promise<RetentionSettings> {
  const rules = (await context.retention?.()) ?? NO_RETENTION;
  if (keepsAll(rules) || status !== undefined) throw noRules();
  return rules;
}

const NOTHING_PAST: EndedRows = { allocations: [], tokens: [] };

function ageOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null)
    throw new DarumaError("INVALID_INPUT", `older_than: invalid duration ${text}`, {
      hint: "Write 12h or 30d.",
    });
  return ms;
}

function bytesOf(text: string): number {
  const bytes = parseMemorySize(text);
  if (bytes === null)
    throw new DarumaError("INVALID_INPUT", `max_size: invalid size ${text}`, { hint: "Write 500m or 20g." });
  return bytes;
}
