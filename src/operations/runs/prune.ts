import { readdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { DarumaError } from "../../core/errors/errors.js";
import type { RunRow } from "../../core/model/rows.js";
import { LAST_TIME } from "../../core/text/iso-time.js";
import { parseDuration } from "../../definition/read/duration.js";
import { iso } from "../../report/run-report.js";
import type { Store } from "../../store/store.js";
import { logFolder, runFolder } from "../../worker/attempt-paths.js";
import { workFolderOf } from "../../worker/work-folder.js";
import { removeFolder } from "../../workspace/remove-folder.js";
import type { Context } from "../context.js";

type FinalStatus = "completed" | "failed" | "canceled";

export interface PruneRequest {
  readonly older_than: string;
  readonly status?: readonly FinalStatus[] | undefined;
  readonly dry_run: boolean;
}

const RUNS_PER_PAGE = 200;
const FINAL: readonly FinalStatus[] = ["completed", "failed", "canceled"];
const LOG_OF_RUN = /^job_wf\d+_j\d+_r(\d+)_a\d+\./;
/** `run.forked` is among a run's first events. */
const FIRST_EVENTS = 3;

/** Remove runs that ended long ago, with their logs and artifacts. */
export async function pruneRuns({ store, outputDir, now }: Context, request: PruneRequest) {
  const endedBefore = now() - ageOf(request.older_than);
  const inUse = await forkedFrom(store);
  const removed: RunRow[] = [];
  const kept: { run_id: number; because: string }[] = [];
  for await (const run of runsEndedBefore(store, endedBefore, request.status ?? FINAL)) {
    const because = inUse.has(run.id) ? "a run that is not over was forked from it" : null;
    if (because !== null) kept.push({ run_id: run.id, because });
    else if (request.dry_run || (await store.deleteRun(run.id))) removed.push(run);
    else kept.push({ run_id: run.id, because: "somebody holds it" });
  }
  if (!request.dry_run) await removeFiles(outputDir, new Set(removed.map(({ id }) => id)));
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
  };
}

function ageOf(text: string): number {
  const ms = parseDuration(text);
  if (ms === null)
    throw new DarumaError("INVALID_INPUT", `older_than: ${text} is no duration`, {
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

/** Logs, artifacts and workspaces of runs. After their rows: a run without its files could not be told from one that lost them. */
export async function removeFiles(outputDir: string, runs: ReadonlySet<number>): Promise<void> {
  for (const runId of runs)
    for (const folder of [runFolder(outputDir, runId), workFolderOf(outputDir, runId)])
      await removeFolder(folder);
  if (runs.size === 0) return;
  for (const name of logNames(outputDir))
    if (runs.has(Number(LOG_OF_RUN.exec(name)?.[1])))
      rmSync(join(logFolder(outputDir), name), { force: true });
}

function logNames(outputDir: string): string[] {
  try {
    return readdirSync(logFolder(outputDir));
  } catch {
    return [];
  }
}
