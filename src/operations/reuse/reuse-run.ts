import { loadRun } from "../../run/engine/load-run.js";
import type { NewRun } from "../../run/engine/start-run.js";
import type { Store } from "../../store/store.js";
import { isReusable, requireOwnRuns } from "../../tell/lookup/own-runs.js";
import { unownedRuns } from "../../tell/lookup/run-owner.js";
import { type RunReference, resolveRun } from "../../tell/lookup/run-reference.js";
import { planReuse, type ReusePlan } from "./plan-reuse.js";
import { readRecordedJobs, takenOver } from "./recorded-jobs.js";
import type { RunMaterial } from "./what-counts.js";

/** From which run jobs are taken over; by default the newest of the same workflow that has ended. */
export type ReuseRequest = "last_ended" | RunReference;

const RUNS_PER_PAGE = 50;

/** What a new run takes over, and why it does the rest; null: there is no run to take anything from. */
export async function planFrom(
  store: Store,
  request: ReuseRequest,
  material: RunMaterial,
  keepStoodIn = false,
): Promise<{ readonly plan: ReusePlan; readonly fork: NonNullable<NewRun["fork"]> } | null> {
  const from = await chooseSource(store, request, material.definition.name);
  if (from === null) return null;
  const { run } = await loadRun(store, from);
  const recorded = await readRecordedJobs(store, run);
  const plan = await planReuse(run, recorded, material, keepStoodIn);
  return { plan, fork: { from, reason: "", reuse: takenOver(run, plan.taken, recorded) } };
}

/** The run that jobs are taken over from; null: there is none. */
export async function chooseSource(
  store: Store,
  request: ReuseRequest,
  workflow: string,
): Promise<number | null> {
  if (request === "last_ended") return lastEnded(store, workflow);
  await requireOwnRuns(store, [{ run: request }]);
  return resolveRun(store, request);
}

/** A run of one step alone, or of another run's step, is no run of the workflow. */
async function lastEnded(store: Store, workflow: string): Promise<number | null> {
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      workflow,
      status: ["completed", "failed", "held", "canceled", "running"],
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    const unowned = await unownedRuns(store, page);
    const found = page.find((run) => isReusable(run) && (run.status !== "running" || unowned.has(run.id)));
    if (found !== undefined) return found.id;
    if (page.length < RUNS_PER_PAGE) return null;
    beforeId = page.at(-1)!.id;
  }
}
