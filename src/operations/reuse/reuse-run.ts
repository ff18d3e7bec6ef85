import { loadRun } from "../../engine/load-run.js";
import type { NewRun } from "../../engine/new-run.js";
import { isImported, requireOwnRuns } from "../../report/lookup/own-runs.js";
import { type RunReference, resolveRun } from "../../report/lookup/run-reference.js";
import type { Store } from "../../store/store.js";
import { planReuse, type ReusePlan } from "./plan-reuse.js";
import { readRecordedJobs, takenOver } from "./recorded-jobs.js";
import type { RunMaterial } from "./what-counts.js";

/** From which run jobs are taken over; by default the last of the same workflow that completed. */
export type ReuseRequest = "last_completed" | RunReference;

const RUNS_PER_PAGE = 50;

/** What a new run takes over, and why it does the rest; null: there is no run to take anything from. */
export async function planFrom(
  store: Store,
  request: ReuseRequest,
  material: RunMaterial,
): Promise<{ readonly plan: ReusePlan; readonly fork: NonNullable<NewRun["fork"]> } | null> {
  const from = await chooseRun(store, request, material.definition.name);
  if (from === null) return null;
  const { run } = await loadRun(store, from);
  const recorded = await readRecordedJobs(store, run);
  const plan = await planReuse(run, recorded, material);
  return { plan, fork: { from, reason: "", reuse: takenOver(run, plan.taken, recorded) } };
}

async function chooseRun(store: Store, request: ReuseRequest, workflow: string): Promise<number | null> {
  if (request === "last_completed") return lastCompleted(store, workflow);
  await requireOwnRuns(store, [{ run: request }]);
  return resolveRun(store, request);
}

/** A run of one step alone, or of another run's step, is no run of the workflow. */
async function lastCompleted(store: Store, workflow: string): Promise<number | null> {
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      workflow,
      status: ["completed"],
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    const found = page.find((run) => !isImported(run) && run.parent === null && run.options.only === null);
    if (found !== undefined) return found.id;
    if (page.length < RUNS_PER_PAGE) return null;
    beforeId = page.at(-1)!.id;
  }
}
