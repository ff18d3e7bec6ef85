import { existsSync } from "node:fs";
import type { RunRow, RunStatus } from "../../core/model/rows.js";
import {
  FINAL_STATUSES,
  type FinalStatus,
  type RetentionRule,
  type RetentionSettings,
} from "../../file/settings/retention.js";
import { runFolder, workFolderOf } from "../../run/worker/attempt-paths.js";
import type { Store } from "../../store/store.js";
import { isImported } from "../../tell/lookup/own-runs.js";
import { type EndedRun, type Exceeding, exceedingRuns } from "./exceeding-runs.js";
import { bytesOfRun, type RunBytes, type RunFiles, runsWithLogs } from "./run-files.js";

const RUNS_PER_PAGE = 500;

export interface ListedRun extends EndedRun {
  readonly parent: number | null;
  readonly imported: boolean;
}

/** Newest first. */
async function* listAllRuns(store: Store, status: readonly RunStatus[]): AsyncGenerator<RunRow> {
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      status,
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    yield* page;
    if (page.length < RUNS_PER_PAGE) return;
    beforeId = page.at(-1)!.id;
  }
}

/** Lists ended runs, the last one first. */
async function listEndedRuns(store: Store, status: readonly FinalStatus[]): Promise<ListedRun[]> {
  const found: ListedRun[] = [];
  for await (const run of listAllRuns(store, status)) {
    if (run.finished_at === null) continue;
    found.push({
      id: run.id,
      workflow: run.workflow,
      status: run.status as FinalStatus,
      finishedAt: run.finished_at,
      parent: run.parent?.run_id ?? null,
      imported: isImported(run),
    });
  }
  return found.sort((a, b) => b.finishedAt - a.finishedAt || b.id - a.id);
}

const NOT_OVER: readonly RunStatus[] = ["pending", "running", "paused", "held"];
/** `run.forked` is among a run's first events. */
const FIRST_EVENTS = 3;
const MAX_CAMPAIGNS = 10_000;

/** Why runs that are over must stay: somebody is not done with them. */
export class NeededRuns {
  private readonly unfinished = new Set<number>();
  private readonly sources = new Map<number, number>();
  private readonly inCampaign = new Map<number, number>();

  static async read(store: Store): Promise<NeededRuns> {
    const needed = new NeededRuns();
    for await (const { id } of listAllRuns(store, NOT_OVER)) {
      needed.unfinished.add(id);
      await needed.addSources(store, id, id);
    }
    for (const { id, items } of await store.listCampaigns({ unfinished: true, limit: MAX_CAMPAIGNS }))
      for (const { run_id } of items) needed.inCampaign.set(run_id, id);
    return needed;
  }

  /** Why the run is needed; null if it is not. */
  why({ id, parent }: { readonly id: number; readonly parent: number | null }): string | null {
    const fork = this.sources.get(id);
    // A fork reads outputs from the folder of the run that it was made from; so does a run that reuses jobs.
    if (fork !== undefined) return `run ${fork}, which is not over, was made from it`;
    // A parent that is killed before it has noted the end of its child asks for it again.
    if (parent !== null && this.unfinished.has(parent)) return `its parent, run ${parent}, is not over`;
    const campaign = this.inCampaign.get(id);
    return campaign === undefined ? null : `campaign ${campaign} is not over`;
  }

  /** What a fork has taken over it may have taken over itself. */
  private async addSources(store: Store, runId: number, by: number): Promise<void> {
    for (const { event } of await store.readEvents(runId, { limit: FIRST_EVENTS })) {
      if (event.type !== "run.forked" || this.sources.has(event.from)) continue;
      this.sources.set(event.from, by);
      await this.addSources(store, event.from, by);
    }
  }
}

export interface Planned extends Exceeding<ListedRun> {
  readonly bytes: number;
}

/** What goes: whole runs, and of others only their logs or their artifacts. */
export interface RetentionPlan {
  readonly runs: readonly Planned[];
  readonly logs: readonly Planned[];
  readonly artifacts: readonly Planned[];
  /** Beyond a bound, and needed all the same. */
  readonly kept: readonly { readonly runId: number; readonly because: string }[];
}

export interface RetentionPlace {
  readonly store: Store;
  readonly outputDir: string;
  readonly files: RunFiles;
  readonly now: number;
  /** Nobody asked for it just now: what is young, or was brought here by hand, is left alone. */
  readonly byItself: boolean;
}

/** Somebody may still look at it, and what started it may ask for it again. */
const LEFT_ALONE_MS = 3_600_000;

export async function planRetention(place: RetentionPlace, rules: RetentionSettings): Promise<RetentionPlan> {
  const { store, now, byItself } = place;
  const all = await listEndedRuns(store, FINAL_STATUSES);
  const ended = byItself ? all.filter(({ imported }) => !imported) : all;
  const needed = await NeededRuns.read(store);
  const kept = new Map<number, string>();
  const beyond = async (
    rule: RetentionRule | null,
    sizeOf: (bytes: RunBytes) => number,
    among: readonly ListedRun[],
  ): Promise<Planned[]> => {
    if (rule === null) return [];
    const measured = rule.maxBytes === null ? new Map<number, RunBytes>() : await place.files.measure(among);
    const found = exceedingRuns(among, rule, {
      now,
      bytesOf: ({ id }) => sizeOf(bytesOfRun(measured, id)),
      mustStay: (run) => {
        if (byItself && run.finishedAt > now - LEFT_ALONE_MS) return true;
        const because = needed.why(run);
        if (because !== null) kept.set(run.id, because);
        return because !== null;
      },
    });
    const sizes = await place.files.measure(found.map(({ run }) => run));
    return found.map((each) => ({ ...each, bytes: sizeOf(bytesOfRun(sizes, each.run.id)) }));
  };
  const runs = await beyond(rules.runs, ({ logs, artifacts }) => logs + artifacts, ended);
  const gone = new Set(runs.map(({ run }) => run.id));
  const rest = ended.filter(({ id }) => !gone.has(id));
  const logs = await beyond(rules.logs, (bytes) => bytes.logs, rest);
  const artifacts = await beyond(rules.artifacts, (bytes) => bytes.artifacts, rest);
  return {
    runs,
    logs: withLogs(place.outputDir, logs),
    artifacts: artifacts.filter(({ run }) => hasArtifacts(place.outputDir, run.id)),
    kept: [...kept].map(([runId, because]) => ({ runId, because })),
  };
}

function withLogs(outputDir: string, planned: readonly Planned[]): Planned[] {
  const there = runsWithLogs(outputDir, new Set(planned.map(({ run }) => run.id)));
  return planned.filter(({ run }) => there.has(run.id));
}

function hasArtifacts(outputDir: string, runId: number): boolean {
  return [runFolder(outputDir, runId), workFolderOf(outputDir, runId)].some((folder) => existsSync(folder));
}
