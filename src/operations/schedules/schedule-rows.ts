import type { Definition } from "../../core/model/definition.js";
import { newScheduleState, replaceSchedule, type ScheduleState } from "../../core/schedule/plan-ticks.js";
import type { WebhookDefinition } from "../../core/schedule/triggers.js";
import { Board } from "../../run/engine/board.js";
import type { Clock } from "../../run/engine/clock.js";
import type { SharedStore } from "../../store/shared-rows.js";
import type { Store, WorkflowRow } from "../../store/store.js";
import type { Runner } from "../context.js";
import { refuseChildrenWithoutFolder } from "../runs/started-run.js";
import { publishedAsWorkflow } from "../workflows/choose-workflow.js";

const KIND = "schedules";

/** What starts a workflow by itself: its schedules, as its newest published version has them, and where each of them stands. */
export interface WorkflowSchedules {
  /** 0 if no version with a schedule was ever published. */
  readonly version: number;
  readonly schedules: readonly ScheduleState[];
  /** Which requests start it; missing: none. */
  readonly webhook?: WebhookDefinition;
}

/** One row a workflow, so that publishing replaces all its schedules at once. */
export type ScheduleRows = Board<WorkflowSchedules>;

export function scheduleRows(store: SharedStore, clock: Pick<Clock, "now">): ScheduleRows {
  return new Board<WorkflowSchedules>(KIND, store, clock, (row) =>
    row === undefined ? { version: 0, schedules: [] } : (JSON.parse(row.data) as WorkflowSchedules),
  );
}

/** Makes the schedules of a published version valid. A late call for an older version changes nothing. */
export async function syncSchedules(
  rows: ScheduleRows,
  { name, version }: Pick<WorkflowRow, "name" | "version">,
  { schedules: published = [], webhook }: Pick<Definition, "schedules" | "webhook">,
): Promise<void> {
  await rows.changeOne(name, (before, now) => {
    const isNew = before.version === 0 && published.length === 0 && webhook === undefined;
    if (isNew || version <= before.version) return before;
    const known = new Map(before.schedules.map((state) => [state.schedule.id, state]));
    const schedules = published.map((schedule) => {
      const state = known.get(schedule.id);
      return state === undefined ? newScheduleState(schedule, now) : replaceSchedule(state, schedule, now);
    });
    return { version, schedules, ...(webhook === undefined ? {} : { webhook }) };
  });
}

/** Changes the schedules of a workflow one by one. */
export function editSchedules(
  rows: ScheduleRows,
  workflow: string,
  edit: (state: ScheduleState, now: number) => ScheduleState,
): Promise<boolean> {
  return rows.changeOne(workflow, (before, now) => {
    const schedules = before.schedules.map((state) => edit(state, now));
    const isSame = schedules.every((state, place) => state === before.schedules[place]);
    return isSame ? before : { ...before, schedules };
  });
}

/** A run of the newest published version with the inputs of its schedule. Null: that version has no such schedule. */
export async function startScheduled(
  { store, start }: { readonly store: Store; readonly start: Runner["start"] },
  { workflow: name, id, mark }: { readonly workflow: string; readonly id: string; readonly mark: string },
): Promise<number | null> {
  const workflow = await publishedAsWorkflow(store, name);
  const schedule = workflow.definition.schedules?.find((each) => each.id === id);
  if (schedule === undefined) return null;
  refuseChildrenWithoutFolder(workflow.definition, workflow.folder);
  return start(workflow, { inputs: schedule.inputs, cause: { mark, request: null } });
}
