import type { RunRow, RunStatus } from "../../core/model/rows.js";
import type { FinalStatus } from "../../file/settings/retention.js";
import type { Store } from "../../store/store.js";
import { isImported } from "../../tell/lookup/own-runs.js";
import type { EndedRun } from "./exceeding-runs.js";

const RUNS_PER_PAGE = 500;

export interface ListedRun extends EndedRun {
  readonly parent: number | null;
  readonly imported: boolean;
}

/** Newest first. */
export async function* listAllRuns(store: Store, status: readonly RunStatus[]): AsyncGenerator<RunRow> {
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
export async function listEndedRuns(store: Store, status: readonly FinalStatus[]): Promise<ListedRun[]> {
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
