import { readLog } from "../../report/lookup/replayed-log.js";
import { type RunStats, StatsCounter } from "../../report/run-stats.js";
import type { Store } from "../../store/store.js";
import { definitionOf } from "../operator-words.js";

const RUNS_PER_PAGE = 200;

/** Of these runs, or of every run in the store. */
export async function collectStats(store: Store, runIds: readonly number[]): Promise<RunStats> {
  const counter = new StatsCounter();
  for await (const id of runIds.length > 0 ? new Set(runIds) : allRuns(store)) {
    const definition = await definitionOf(store, id);
    if (definition === null) continue;
    const steps = new Map((await store.readJobs(id)).map((job) => [job.id, job.step]));
    await counter.addRun(definition, (job) => steps.get(job) ?? "", readLog(store, id));
  }
  return counter.result();
}

async function* allRuns(store: Store): AsyncGenerator<number> {
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      limit: RUNS_PER_PAGE,
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    for (const { id } of page) yield id;
    if (page.length < RUNS_PER_PAGE) return;
    beforeId = page.at(-1)!.id;
  }
}
