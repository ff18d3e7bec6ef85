import { existsSync } from "node:fs";
import { FINAL_STATUSES, type RetentionRule, type RetentionSettings } from "../../file/settings/retention.js";
import { runFolder } from "../../run/worker/attempt-paths.js";
import { workFolderOf } from "../../run/worker/work-folder.js";
import type { Store } from "../../store/store.js";
import { type Exceeding, exceedingRuns } from "./exceeding-runs.js";
import { type ListedRun, listEndedRuns } from "./list-runs.js";
import { NeededRuns } from "./needed-runs.js";
import { bytesOfRun, type RunBytes, type RunFiles, runsWithLogs } from "./run-files.js";

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
