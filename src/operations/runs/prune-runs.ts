import { rm } from "node:fs/promises";
import { z } from "zod";
import { DarumaError } from "../../core/errors/errors.js";
import type { RunRow } from "../../core/model/rows.js";
import { LAST_TIME } from "../../core/text/iso-time.js";
import { parseDuration } from "../../definition/read/duration.js";
import { iso } from "../../report/run-report.js";
import type { Store } from "../../store/store.js";
import type { Context } from "../context.js";
import { operation } from "../operation.js";
import { flag, listOf, runStatus } from "../schemas.js";
import { removeFiles } from "./remove-files.js";

const finalStatus = z.enum(["completed", "failed", "canceled"]);

const input = z.strictObject({
  older_than: z
    .string()
    .max(40)
    .describe("A duration such as 12h or 30d: only runs that ended longer ago. 0s: every finished run."),
  status: listOf(finalStatus).optional().describe("Only runs with these statuses, separated by commas."),
  dry_run: flag.default(false).describe("Only list the runs that would be removed."),
});
type PruneRequest = z.output<typeof input>;

export const pruneRuns = operation({
  name: "prune_runs",
  summary: "remove runs that ended long ago, with their logs and artifacts",
  description:
    "Permanently removes runs that ended before the given age: their log, jobs, output files and artifacts. With `dry_run` nothing is removed.",
  details:
    "Allocations of clusters and tokens that have been over for as long are removed too. Unfinished runs are never removed, nor are runs that an unfinished run was forked from. The age of an imported run counts from its original end.",
  onlyForPeople: true,
  role: "admin",
  effect: "destroys",
  input,
  output: z.object({
    dry_run: z.boolean(),
    ended_before: z.string(),
    removed: z.array(
      z.object({ run_id: z.number(), workflow: z.string(), status: runStatus, finished_at: z.string() }),
    ),
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
      ],
    },
  ],
  handler: prune,
});

type FinalStatus = "completed" | "failed" | "canceled";

const RUNS_PER_PAGE = 200;

const FINAL: readonly FinalStatus[] = ["completed", "failed", "canceled"];

/** `run.forked` is among a run's first events. */
const FIRST_EVENTS = 3;

/** Remove runs that ended long ago, with their logs and artifacts. */
async function prune({ store, outputDir, now }: Context, request: PruneRequest) {
  const endedBefore = now() - ageOf(request.older_than);
  const inUse = await forkedFrom(store);
  const removed: RunRow[] = [];
  const kept: { run_id: number; because: string }[] = [];
  for await (const run of runsEndedBefore(store, endedBefore, request.status ?? FINAL)) {
    const because = inUse.has(run.id) ? "a run that is not over was forked from it" : null;
    if (because !== null) kept.push({ run_id: run.id, because });
    else if (request.dry_run || (await store.deleteRun(run.id))) removed.push(run);
    else kept.push({ run_id: run.id, because: "it is in use" });
  }
  const past = await endedBeforeRows(store, endedBefore);
  if (!request.dry_run) {
    await removeFiles(outputDir, new Set(removed.map(({ id }) => id)));
    await store.deleteEnded({ allocations: past.allocations.map(({ key }) => key), tokens: past.tokens });
    for (const { folder } of past.allocations) await rm(folder, { recursive: true, force: true });
  }
  return {
    dry_run: request.dry_run,
    ended_before: iso(endedBefore),
    removed: removed.map(({ id, workflow, status, finished_at }) => ({
      run_id: id,
      workflow,
      status,
      finished_at: iso(finished_at!),
    })),
    kept,
    allocations: past.allocations.length,
    tokens: past.tokens.length,
  };
}

/** Allocations and tokens that have been over for as long. */
async function endedBeforeRows(store: Store, before: number) {
  const isPast = (at: number | null): boolean => at !== null && at < before;
  return {
    allocations: (await store.listAllocations({})).filter(({ ended_at }) => isPast(ended_at)),
    tokens: (await store.listTokens())
      .filter(({ revoked_at, expires_at }) => isPast(revoked_at) || isPast(expires_at))
      .map(({ id }) => id),
  };
}

function ageOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null)
    throw new DarumaError("INVALID_INPUT", `older_than: invalid duration ${text}`, {
      hint: "Write 12h or 30d.",
    });
  return ms;
}

async function* runsEndedBefore(
  store: Store,
  endedBefore: number,
  status: readonly FinalStatus[],
): AsyncGenerator<RunRow> {
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      status,
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    // A time that nothing can happen at is no reason to keep a run forever.
    yield* page.filter(({ finished_at: at }) => at !== null && (at < endedBefore || at > LAST_TIME));
    if (page.length < RUNS_PER_PAGE) return;
    beforeId = page.at(-1)!.id;
  }
}

/** Runs whose outputs others still read. */
async function forkedFrom(store: Store): Promise<Set<number>> {
  const sources = new Set<number>();
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      status: ["pending", "running", "paused", "held"],
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    for (const { id } of page) await addSources(store, id, sources);
    if (page.length < RUNS_PER_PAGE) return sources;
    beforeId = page.at(-1)!.id;
  }
}

/** What a fork has taken over it may have taken over itself. */
async function addSources(store: Store, runId: number, sources: Set<number>): Promise<void> {
  for (const { event } of await store.readEvents(runId, { limit: FIRST_EVENTS })) {
    if (event.type !== "run.forked" || sources.has(event.from)) continue;
    sources.add(event.from);
    await addSources(store, event.from, sources);
  }
}
