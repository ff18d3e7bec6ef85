import type { RunRow } from "../core/model/rows.js";
import { number, type OfFields, text } from "../core/text/shape.js";
import type { Store } from "../store/store.js";

/** A child run, at whatever depth, that completed with so many failures handled; `job_id` is that of the step it ran for. */
export const HANDLED_CHILD = { run_id: number, workflow: text, job_id: number, failures: number } as const;
export type HandledChild = OfFields<typeof HANDLED_CHILD>;

/** A run may look clean only because what failed did so in a child run. Of each step the newest child counts. */
export async function handledInChildren(store: Store, { id, status }: RunRow): Promise<HandledChild[]> {
  if (status !== "completed") return [];
  const found: HandledChild[] = [];
  const seen = new Set<number>();
  for (const child of await store.listRuns({ parentRun: id })) {
    const job_id = child.parent!.job_id;
    if (seen.has(job_id)) continue;
    seen.add(job_id);
    const failures = child.tally?.handled ?? 0;
    if (child.status === "completed" && failures > 0)
      found.push({ run_id: child.id, workflow: child.workflow, job_id, failures });
    found.push(...(await handledInChildren(store, child)));
  }
  return found.sort((one, other) => one.run_id - other.run_id);
}
