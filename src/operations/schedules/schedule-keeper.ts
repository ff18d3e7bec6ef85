import { DarumaError, type ErrorCode } from "../../core/errors/errors.js";
import type { RunStatus } from "../../core/model/rows.js";
import {
  causeOfTick,
  causePrefix,
  type FiredTick,
  isDue,
  judgeTicks,
  type ScheduleState,
  settleTicks,
} from "../../core/schedule/plan-ticks.js";
import { messageOf } from "../../core/text/message-of.js";
import { oneLine } from "../../core/text/plain-text.js";
import type { Clock } from "../../run/engine/clock.js";
import type { Store, WorkflowRow } from "../../store/store.js";
import { storedDefinition } from "../workflows/stored-workflows.js";
import { editSchedules, type ScheduleRows, scheduleRows, syncSchedules } from "./schedule-rows.js";

/** How often it looks whether something was published whose schedules are not on record. */
const SYNC_MS = 60_000;
const STARTS_AT_ONCE = 10;
const RUNS_AT_ONCE = 1_000;
const UNFINISHED: readonly RunStatus[] = ["pending", "running", "paused", "held"];
/** Not a no: the run is asked for again under the same cause. */
const ASKED_AGAIN: readonly ErrorCode[] = [
  "RUN_OWNED",
  "LEASE_LOST",
  "STORE_FAILED",
  "STORE_GONE",
  "SERVER_STOPPING",
];

export interface ScheduleKeeperOptions {
  readonly store: Store;
  readonly clock: Pick<Clock, "now" | "elapsed">;
  /** Makes the run of a cause, or says which one it has made already. Null: the schedule is gone. */
  readonly start: (asked: {
    readonly workflow: string;
    readonly id: string;
    readonly mark: string;
  }) => Promise<number | null>;
  /** Reports to the server's operator what keeps a workflow from starting automatically. */
  readonly tell: (text: string) => void;
}

/**
 * Fires the schedules of all published workflows. A tick is recorded before its run is made, and is the run's cause: if
 * the process dies in between, the next one makes the run, and two that fire the same tick make one run.
 */
export class ScheduleKeeper {
  private readonly rows: ScheduleRows;
  /** By workflow: the definition whose schedules were recorded. */
  private readonly synced = new Map<string, string>();
  private readonly told = new Set<string>();
  private syncedAt = Number.NEGATIVE_INFINITY;

  constructor(private readonly options: ScheduleKeeperOptions) {
    this.rows = scheduleRows(options.store, options.clock);
  }

  /**
   * Checks all schedules once. Returns true if something has fired, so that there may be more to do. A workflow that
   * cannot be read, or whose time zone this machine does not know, does not delay the others: the problem is reported,
   * and thrown when all are done.
   */
  async work(): Promise<boolean> {
    const failures = await this.syncAll();
    await this.rows.readAll();
    let hasFired = false;
    for (const [workflow, { schedules }] of this.rows.entries())
      try {
        const due = schedules.filter((state) => isDue(state, workflow, this.rows.now()));
        if (due.length > 0 && (await this.fire(workflow, due))) hasFired = true;
      } catch (error) {
        failures.push(this.tell(workflow, error));
      }
    if (failures.length > 0) throw failures[0];
    return hasFired;
  }

  /**
   * Records schedules of published workflows. The publisher normally does this, but may have been killed before, or may
   * be too old to know schedules.
   */
  private async syncAll(): Promise<unknown[]> {
    const { store, clock } = this.options;
    const failures: unknown[] = [];
    if (clock.elapsed() - this.syncedAt < SYNC_MS) return failures;
    for (const row of await store.listWorkflows({}))
      if (row.source !== null && this.synced.get(row.name) !== row.definition_hash)
        await this.sync(row).catch((error: unknown) => failures.push(this.tell(row.name, error)));
    this.syncedAt = clock.elapsed();
    return failures;
  }

  /** Once: it looks every second. */
  private tell(workflow: string, error: unknown): unknown {
    const text = `the schedules of ${oneLine(workflow)} do not run: ${oneLine(messageOf(error))}`;
    if (!this.told.has(text)) this.options.tell(text);
    this.told.add(text);
    return error;
  }

  private async sync(row: WorkflowRow): Promise<void> {
    const { definition } = await storedDefinition(this.options.store, row);
    await syncSchedules(this.rows, row, definition);
    this.synced.set(row.name, row.definition_hash);
  }

  private async fire(workflow: string, due: readonly ScheduleState[]): Promise<boolean> {
    const looks = new Map<string, Look>();
    for (const state of due) looks.set(state.schedule.id, await this.lookAt(workflow, state));
    await editSchedules(this.rows, workflow, (state, now) => {
      const look = looks.get(state.schedule.id);
      // Somebody else was faster: he has judged it by what he saw.
      if (look === undefined || !isAsSeen(state, look.state)) return state;
      return judgeTicks(settleTicks(state, look.fired, now), { workflow, now, isBusy: look.isBusy });
    });
    const fired = new Map<string, readonly FiredTick[]>();
    for (const { schedule, firing } of this.rows.get(workflow)!.schedules)
      if (looks.has(schedule.id) && firing.length > 0)
        fired.set(schedule.id, await this.start(workflow, schedule.id, firing));
    return editSchedules(this.rows, workflow, (state, now) => {
      const outcomes = fired.get(state.schedule.id) ?? [];
      return outcomes.length === 0 ? state : settleTicks(state, outcomes, now);
    });
  }

  /** First whether it is busy: a run that is made meanwhile for one of its ticks is then found as that tick's. */
  private async lookAt(workflow: string, state: ScheduleState): Promise<Look> {
    const { schedule, firing } = state;
    const isBusy = schedule.overlap === "skip" && (await this.isBusy(workflow, schedule.id));
    const fired: FiredTick[] = [];
    for (const tick of firing) {
      const cause = causeOfTick(workflow, schedule.id, tick);
      const [run] = await this.options.store.listRuns({ cause, limit: 1 });
      if (run !== undefined) fired.push({ tick, outcome: { run_id: run.id } });
    }
    return { state, isBusy, fired };
  }

  private async isBusy(workflow: string, id: string): Promise<boolean> {
    const prefix = causePrefix(workflow, id);
    for (let beforeId: number | undefined; ; ) {
      const page = await this.options.store.listRuns({
        ...{ workflow, status: UNFINISHED, limit: RUNS_AT_ONCE },
        ...(beforeId === undefined ? {} : { beforeId }),
      });
      if (page.some(({ cause }) => cause?.startsWith(prefix))) return true;
      if (page.length < RUNS_AT_ONCE) return false;
      beforeId = page.at(-1)!.id;
    }
  }

  private async start(workflow: string, id: string, ticks: readonly number[]): Promise<FiredTick[]> {
    const fired: FiredTick[] = [];
    for (let from = 0; from < ticks.length; from += STARTS_AT_ONCE) {
      const some = ticks.slice(from, from + STARTS_AT_ONCE);
      const outcomes = await Promise.all(some.map((tick) => this.startOne(workflow, id, tick)));
      fired.push(...outcomes.flatMap((outcome) => outcome ?? []));
    }
    return fired;
  }

  /** Starts the run of one tick. Null if it must be tried again. */
  private async startOne(workflow: string, id: string, tick: number): Promise<FiredTick | null> {
    try {
      const run = await this.options.start({ workflow, id, mark: causeOfTick(workflow, id, tick) });
      return { tick, outcome: run === null ? null : { run_id: run } };
    } catch (error) {
      if (!(error instanceof DarumaError)) throw error;
      const { code, message } = error;
      return ASKED_AGAIN.includes(code) ? null : { tick, outcome: { code, message } };
    }
  }
}

/** What a schedule was judged by. */
interface Look {
  readonly state: ScheduleState;
  readonly isBusy: boolean;
  /** Ticks that have a run already. */
  readonly fired: readonly FiredTick[];
}

function isAsSeen(state: ScheduleState, seen: ScheduleState): boolean {
  const isSameFiring = state.firing.join() === seen.firing.join();
  return (
    isSameFiring && state.judged_to === seen.judged_to && state.schedule.overlap === seen.schedule.overlap
  );
}
