import { isRestingBelow } from "../../core/model/resting.js";
import type { RunRow, RunStatus } from "../../core/model/rows.js";
import { number, type OfFields, text, word } from "../../core/text/shape.js";
import { loadRun } from "../../run/engine/load-run.js";
import { isAtRest } from "../../run/engine/rest-below.js";
import type { Store } from "../../store/store.js";
import { listNames, nameOf } from "./job-name.js";

/**
 * A child run, at whatever depth, about which somebody has to decide; `under_job_id` is the step of the run that is asked
 * about, `steps` are those that are held in the child.
 */
export const HELD_CHILD = {
  run_id: number,
  workflow: text,
  under_job_id: number,
  status: word<RunStatus>(),
  steps: text,
} as const;
export type HeldChild = OfFields<typeof HELD_CHILD>;

const OPEN: readonly RunStatus[] = ["running", "held", "paused"];

/**
 * The child runs that keep a run from ending, if it waits for nothing else. It is then shown as held. Its own status
 * stays `running`, because the process that takes a decision about a child also continues the run.
 */
export async function heldBelow(
  store: Store,
  { id, status }: Pick<RunRow, "id" | "status">,
): Promise<HeldChild[]> {
  if (status !== "running") return [];
  const found: HeldChild[] = [];
  for (const child of await store.listRuns({ parentRun: id, status: OPEN })) {
    const held = isAtRest(child.status) ? [await heldChild(store, child)] : await heldBelow(store, child);
    found.push(...held.map((each) => ({ ...each, under_job_id: child.parent!.job_id })));
  }
  if (found.length === 0) return [];
  found.sort((one, other) => one.run_id - other.run_id);
  const jobs = new Set(found.map(({ under_job_id }) => under_job_id));
  const { run } = await loadRun(store, id);
  return isRestingBelow(run, (job) => jobs.has(job.id)) ? found : [];
}

async function heldChild(
  store: Store,
  { id: run_id, workflow, status }: RunRow,
): Promise<Omit<HeldChild, "under_job_id">> {
  const held = await store.listJobs({ runId: run_id, status: ["held"] });
  return { run_id, workflow, status, steps: listNames(held, ({ step, scope }) => nameOf(step, scope)) };
}

/** `run 2 of deploy is held: approve`. */
export function heldBelowText(children: readonly HeldChild[]): string {
  return listNames(children, ({ run_id, workflow, status, steps }) => {
    const what = steps === "" ? "" : `: ${steps}`;
    return `run ${run_id} of ${workflow} is ${status}${what}`;
  });
}
