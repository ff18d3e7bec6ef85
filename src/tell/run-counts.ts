import { headlineOf } from "../core/model/excerpt.js";
import type { RunRow } from "../core/model/rows.js";
import type { RunTally } from "../core/tally/run-tally.js";
import { oneLine } from "../core/text/plain-text.js";
import type { Store } from "../store/store.js";
import { readRecoveries } from "./recoveries.js";

/** What a list tells of a run. */
export interface RunCounts {
  readonly tally: RunTally;
  readonly recoveries: number;
  readonly waiting: number;
}

const TOLD = 3;
const MAX_MESSAGE_CHARS = 200;

/** From its row alone; one of an older version has nothing there, and is counted. */
export async function countsOf(store: Store, run: RunRow): Promise<RunCounts> {
  const { tally, recoveries, waiting } = run;
  if (tally !== null) return { tally, recoveries: recoveries ?? 0, waiting: waiting ?? 0 };
  const rows = await store.readJobs(run.id);
  const found = await readRecoveries(store, run.id);
  const jobs: { [status: string]: number } = {};
  for (const { status } of rows) jobs[status] = (jobs[status] ?? 0) + 1;
  const held = rows.find(({ status }) => status === "held");
  return {
    recoveries: found.length,
    waiting: rows.filter(({ unanswered, status }) => unanswered && status !== "failed").length,
    tally: {
      jobs,
      handled: rows.filter(({ handled }) => handled).length,
      recovered: found
        .slice(0, TOLD)
        .map(({ step, scope, rung, to, times }) => ({ step, scope, rung, to, times })),
      concern:
        held === undefined
          ? null
          : {
              kind: held.dead_letter ? "dead_letter" : "held",
              step: held.step,
              scope: held.scope,
              code: held.error?.code ?? null,
              message: held.error === null ? "" : oneLine(headlineOf(held.error), MAX_MESSAGE_CHARS),
              to: null,
            },
    },
  };
}
