import { DarumaError } from "../../src/core/errors/errors.js";
import type { RunStatus } from "../../src/core/model/rows.js";
import type { ScheduleDefinition } from "../../src/core/schedule/triggers.js";
import { ScheduleKeeper } from "../../src/operations/schedules/schedule-keeper.js";
import {
  scheduleRows,
  syncSchedules,
  type WorkflowSchedules,
} from "../../src/operations/schedules/schedule-rows.js";
import type { Clock } from "../../src/run/engine/clock.js";
import type { Store } from "../../src/store/store.js";
import { appendTo, runRow, takeRun } from "../contract/store-fixtures.js";

export const WORKFLOW = "report";

/** What a file leaves out. */
export function scheduleOf(changes: Partial<ScheduleDefinition> = {}): ScheduleDefinition {
  return {
    ...{ id: "default", cron: "* * * * *", timezone: "UTC" },
    ...{ overlap: "allow", catchUp: "last", jitterMs: 0, inputs: {} },
    ...changes,
  };
}

/** Makes runs that are rows alone, each under its cause. */
export function makeRun(store: Store, status: RunStatus = "completed") {
  return async ({ mark: cause }: { readonly mark: string }): Promise<number> => {
    const [known] = await store.listRuns({ cause, limit: 1 });
    if (known !== undefined) return known.id;
    const taken = await takeRun(store);
    const over = status === "completed" ? { finished_at: 2 } : {};
    const run = runRow(taken.runId, { workflow: WORKFLOW, cause, status, ...over });
    try {
      await store.commit([appendTo(taken, 1, { run })]);
    } catch (error) {
      if (!(error instanceof DarumaError) || error.code !== "CAUSE_TAKEN") throw error;
      return (await store.listRuns({ cause, limit: 1 }))[0]!.id;
    }
    return taken.runId;
  };
}

export function keeperOn(
  store: Store,
  clock: Clock,
  start = makeRun(store),
  told: string[] = [],
): ScheduleKeeper {
  return new ScheduleKeeper({ store, clock, start, tell: (text) => told.push(text) });
}

export async function publishSchedules(
  store: Store,
  clock: Clock,
  version: number,
  ...schedules: ScheduleDefinition[]
): Promise<void> {
  await syncSchedules(scheduleRows(store, clock), { name: WORKFLOW, version }, { schedules });
}

export async function standing(store: Store, clock: Clock): Promise<WorkflowSchedules> {
  const rows = scheduleRows(store, clock);
  await rows.read([WORKFLOW]);
  return rows.get(WORKFLOW)!;
}

/** The ticks that have a run, oldest first, as their causes name them. */
export async function firedTicks(store: Store, limit = 100_000): Promise<string[]> {
  const runs = await store.listRuns({ limit });
  return runs.flatMap(({ cause }) => cause?.split("/").at(-1) ?? []).sort();
}
