import type { Store } from "../../store/store.js";
import { iso } from "../../tell/run-report.js";
import {
  type ListedRun,
  NeededRuns,
  type Planned,
  type RetentionPlace,
  type RetentionPlan,
} from "./plan-retention.js";
import {
  noteRemovedFiles,
  noteRemovedRuns,
  type RemovedKind,
  removeArtifacts,
  removeFiles,
  removeLogs,
} from "./removed-files.js";

/** What is needed is looked at again before each: a run may have been forked since. */
const RUNS_AT_ONCE = 100;
const FILES_AT_ONCE = 20;
const IN_USE = "it is in use";

/** Does what was planned, and answers with what was really done. */
export async function applyRetention(
  place: RetentionPlace,
  plan: RetentionPlan,
  isStopping: () => boolean = () => false,
): Promise<RetentionPlan> {
  const kept = [...plan.kept];
  const runs: Planned[] = [];
  for (let at = 0; at < plan.runs.length && !isStopping(); at += RUNS_AT_ONCE)
    runs.push(...(await removeRuns(place, plan.runs.slice(at, at + RUNS_AT_ONCE), kept)));
  const logs = isStopping() ? [] : await removeOnly(place, { kind: "logs", planned: plan.logs, kept });
  const artifacts = isStopping()
    ? []
    : await removeOnly(place, { kind: "artifacts", planned: plan.artifacts, kept });
  return { runs, logs, artifacts, kept };
}

async function removeRuns(
  { store, outputDir, files, now }: RetentionPlace,
  planned: readonly Planned[],
  kept: { runId: number; because: string }[],
): Promise<Planned[]> {
  const needed = await NeededRuns.read(store);
  const free = planned.filter(({ run }) => {
    const because = needed.why(run);
    if (because !== null) kept.push({ runId: run.id, because });
    return because === null;
  });
  await noteRemovedRuns(
    store,
    free.map(({ run }) => run.id),
    now,
  );
  const removed: Planned[] = [];
  for (const each of free) {
    if (await store.deleteRun(each.run.id)) removed.push(each);
    else kept.push({ runId: each.run.id, because: IN_USE });
  }
  const ids = new Set(removed.map(({ run }) => run.id));
  await removeFiles(outputDir, ids);
  files.forget(ids);
  return removed;
}

interface OnlyFiles {
  readonly kind: RemovedKind;
  readonly planned: readonly Planned[];
  readonly kept: { runId: number; because: string }[];
}

/**
 * Removes files only. This is recorded first, so that if the process dies, the rest is removed the next time. Measuring
 * many files takes long, so each run is checked once more right before its files are removed.
 */
async function removeOnly(
  { store, outputDir, files, now }: RetentionPlace,
  { kind, planned, kept }: OnlyFiles,
): Promise<readonly Planned[]> {
  const removed: Planned[] = [];
  for (let at = 0; at < planned.length; at += FILES_AT_ONCE) {
    const needed = await NeededRuns.read(store);
    const free: Planned[] = [];
    for (const each of planned.slice(at, at + FILES_AT_ONCE)) {
      const because = needed.why(each.run) ?? ((await isStillOver(store, each.run)) ? null : IN_USE);
      if (because === null) free.push(each);
      else kept.push({ runId: each.run.id, because });
    }
    const ids = new Set(free.map(({ run }) => run.id));
    for (const id of ids) noteRemovedFiles(outputDir, id, kind, iso(now));
    await (kind === "logs" ? removeLogs : removeArtifacts)(outputDir, ids);
    files.forget(ids);
    removed.push(...free);
  }
  return removed;
}

/** One that was taken up again has another end, or none. */
async function isStillOver(store: Store, { id, status, finishedAt }: ListedRun): Promise<boolean> {
  const run = await store.readRun(id);
  return run !== null && run.status === status && run.finished_at === finishedAt;
}
