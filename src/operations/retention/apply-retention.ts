import { iso } from "../../report/run-report.js";
import { NeededRuns } from "./needed-runs.js";
import type { Planned, RetentionPlace, RetentionPlan } from "./plan-retention.js";
import { removeArtifacts, removeFiles, removeLogs } from "./remove-files.js";
import { noteRemovedFiles, type RemovedKind } from "./removed-files.js";
import { noteRemovedRuns } from "./removed-runs.js";

/** What is needed is looked at again before each: a run may have been forked since. */
const RUNS_AT_ONCE = 100;

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
  const logs = isStopping() ? [] : await removeOnly(place, "logs", plan.logs);
  const artifacts = isStopping() ? [] : await removeOnly(place, "artifacts", plan.artifacts);
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
    else kept.push({ runId: each.run.id, because: "it is in use" });
  }
  const ids = new Set(removed.map(({ run }) => run.id));
  await removeFiles(outputDir, ids);
  files.forget(ids);
  return removed;
}

/** Noted before it is done: whoever dies in between has said so, and what is left is removed the next time. */
async function removeOnly(
  { outputDir, files, now }: RetentionPlace,
  kind: RemovedKind,
  planned: readonly Planned[],
): Promise<readonly Planned[]> {
  const ids = new Set(planned.map(({ run }) => run.id));
  for (const id of ids) noteRemovedFiles(outputDir, id, kind, iso(now));
  await (kind === "logs" ? removeLogs : removeArtifacts)(outputDir, ids);
  files.forget(ids);
  return planned;
}
