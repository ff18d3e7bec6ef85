import { describe, expect, test } from "vitest";
import { DarumaError } from "../../src/core/errors/errors.js";
import { scheduleRows, syncSchedules } from "../../src/operations/schedules/schedule-rows.js";
import { Duty } from "../../src/run/engine/duties/duty.js";
import { LeaseKeeper } from "../../src/run/engine/lease-keeper.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";
import { appendTo, OWNER, runRow } from "../contract/store-fixtures.js";
import { ManualClock } from "../support/manual-clock.js";
import {
  firedTicks,
  keeperOn,
  makeRun,
  publishSchedules,
  scheduleOf,
  standing,
  WORKFLOW,
} from "../support/schedule-world.js";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const T0 = Date.parse("2026-01-01T00:00:00Z");

const minutes = async (store: Store): Promise<string[]> =>
  (await firedTicks(store)).map((tick) => tick.slice(11, 16));

function begin(): { store: Store; clock: ManualClock } {
  return { store: createMemoryStore(), clock: new ManualClock(T0) };
}

describe("a server that keeps schedules", () => {
  test("makes a run for each tick, with the tick as its cause", { tags: ["K3", "K4"] }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf({ id: "often" }));
    const keeper = keeperOn(store, clock);
    expect(await keeper.work()).toBe(false);
    for (let n = 0; n < 3; n += 1) {
      clock.advance(MINUTE);
      expect(await keeper.work()).toBe(true);
      expect(await keeper.work()).toBe(false);
    }
    const runs = await store.listRuns({});
    expect(runs.map(({ cause }) => cause).reverse()).toEqual([
      `schedule/${WORKFLOW}/often/2026-01-01T00:01:00Z`,
      `schedule/${WORKFLOW}/often/2026-01-01T00:02:00Z`,
      `schedule/${WORKFLOW}/often/2026-01-01T00:03:00Z`,
    ]);
    expect((await standing(store, clock)).schedules).toMatchObject([
      { firing: [], last: { tick: T0 + 3 * MINUTE, run_id: runs[0]!.id }, missed: { count: 0 } },
    ]);
  });

  test("skips a tick while a run of the schedule is not over; held is not over", {
    tags: ["K3", "K4"],
  }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf({ overlap: "skip" }));
    const keeper = keeperOn(store, clock, makeRun(store, "held"));
    for (let n = 0; n < 3; n += 1) {
      clock.advance(MINUTE);
      await keeper.work();
    }
    expect(await minutes(store)).toEqual(["00:01"]);
    expect((await standing(store, clock)).schedules).toMatchObject([
      { skipped: { count: 2, last: T0 + 3 * MINUTE } },
    ]);
    const { id, cause } = (await store.listRuns({}))[0]!;
    const { fence } = (await store.readLease(id))!;
    const over = runRow(id, { workflow: WORKFLOW, cause, status: "failed", finished_at: 2 });
    await store.commit([appendTo({ runId: id, fence }, 2, { run: over })]);
    clock.advance(MINUTE);
    await keeper.work();
    expect(await minutes(store)).toEqual(["00:01", "00:04"]);
  });

  test("a run of another schedule of the workflow is no reason to skip", { tags: ["K3", "K4"] }, async () => {
    const { store, clock } = begin();
    const both = ["a", "b"].map((id) => scheduleOf({ id, overlap: "skip" }));
    await publishSchedules(store, clock, 1, ...both);
    clock.advance(MINUTE);
    await keeperOn(store, clock, makeRun(store, "running")).work();
    expect(await store.listRuns({})).toHaveLength(2);
  });

  test("a workflow that cannot be read or judged is told once and does not hold up the others", {
    tags: ["K4"],
  }, async () => {
    const { store, clock } = begin();
    const nowhere = scheduleOf({ timezone: "Nowhere/Land" });
    await syncSchedules(scheduleRows(store, clock), { name: "first", version: 1 }, { schedules: [nowhere] });
    await publishSchedules(store, clock, 1, scheduleOf());
    const lost = { name: "lost", source: "name: lost", definition_hash: "0".repeat(64) };
    const listWorkflows = async () => [lost] as unknown as Awaited<ReturnType<Store["listWorkflows"]>>;
    const told: string[] = [];
    const keeper = keeperOn({ ...store, listWorkflows }, clock, makeRun(store), told);
    for (let n = 0; n < 3; n += 1) {
      clock.advance(MINUTE);
      await expect(keeper.work()).rejects.toThrow("the definition of lost is missing");
    }
    expect(await minutes(store)).toEqual(["00:01", "00:02", "00:03"]);
    expect(told).toEqual([
      "the schedules of lost do not run: the definition of lost is missing from the store",
      expect.stringMatching(/^the schedules of first do not run: .*Nowhere\/Land/),
    ]);
  });

  test("the clock is set forward: one run is made up for, the others were missed", {
    tags: ["K3", "K4"],
  }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf({ cron: "0 * * * *" }));
    const keeper = keeperOn(store, clock);
    clock.set(5.5 * HOUR);
    await keeper.work();
    expect(await minutes(store)).toEqual(["05:00"]);
    expect((await standing(store, clock)).schedules).toMatchObject([
      { missed: { count: 4, last: T0 + 4 * HOUR } },
    ]);
  });

  test("the clock is set back: what has fired does not fire again, and what comes next does", {
    tags: ["K3", "K4"],
  }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf({ cron: "0 * * * *" }));
    const keeper = keeperOn(store, clock);
    for (let n = 0; n < 3; n += 1) {
      clock.advance(HOUR);
      await keeper.work();
    }
    clock.set(-2.5 * HOUR);
    for (let n = 0; n < 4; n += 1) {
      await keeper.work();
      clock.advance(HOUR);
    }
    await keeper.work();
    expect(await minutes(store)).toEqual(["01:00", "02:00", "03:00", "04:00"]);
  });

  test("a clock that was a year ahead for a moment does not stop a schedule for a year", {
    tags: ["K3", "K4"],
  }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf({ cron: "0 * * * *" }));
    const keeper = keeperOn(store, clock);
    clock.set(365 * 24 * HOUR);
    await keeper.work();
    clock.set(-365 * 24 * HOUR);
    await keeper.work();
    clock.advance(HOUR);
    await keeper.work();
    expect(await minutes(store)).toContain("01:00");
  });

  test("killed between tick and run, the next server makes the run, once", {
    tags: ["K3", "K4"],
  }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf());
    clock.advance(MINUTE);
    const dies = keeperOn(store, clock, async () => Promise.reject(new Error("killed")));
    await expect(dies.work()).rejects.toThrow("killed");
    expect((await standing(store, clock)).schedules).toMatchObject([{ firing: [T0 + MINUTE], last: null }]);
    await keeperOn(store, clock).work();
    expect(await minutes(store)).toEqual(["00:01"]);
    expect((await standing(store, clock)).schedules).toMatchObject([
      { firing: [], last: { tick: T0 + MINUTE } },
    ]);
  });

  test("killed between run and record, the next server finds the run and is not kept from it by its own", {
    tags: ["K3", "K4"],
  }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf({ overlap: "skip", catchUp: "none" }));
    clock.advance(MINUTE);
    const make = makeRun(store, "running");
    const dies = keeperOn(store, clock, async (asked) => {
      await make(asked);
      throw new Error("killed");
    });
    await expect(dies.work()).rejects.toThrow("killed");
    clock.advance(10 * HOUR);
    await keeperOn(store, clock, make).work();
    expect(await minutes(store)).toEqual(["00:01"]);
    const [{ last, missed, skipped }] = (await standing(store, clock)).schedules as [never];
    expect({ last, missed, skipped }).toMatchObject({
      last: { tick: T0 + MINUTE },
      missed: { count: 598 },
      skipped: { count: 2 },
    });
  });

  test("a run that is refused is told of and not asked for again; a busy store is asked again", {
    tags: ["K3", "K4"],
  }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf());
    clock.advance(MINUTE);
    const answers = [
      new DarumaError("STORE_FAILED", "later"),
      new DarumaError("INVALID_INPUT", "the input x is missing"),
    ];
    let asked = 0;
    const keeper = keeperOn(store, clock, async () => Promise.reject(answers[asked++]));
    await keeper.work();
    expect((await standing(store, clock)).schedules).toMatchObject([
      { firing: [T0 + MINUTE], refused: null },
    ]);
    await keeper.work();
    await keeper.work();
    expect(asked).toBe(2);
    expect((await standing(store, clock)).schedules).toMatchObject([
      {
        firing: [],
        refused: { tick: T0 + MINUTE, code: "INVALID_INPUT", message: "the input x is missing" },
      },
    ]);
  });

  test("publishing replaces schedules by id: a pause stays, what is gone is gone, an older version changes nothing", {
    tags: ["K3", "K4"],
  }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 2, scheduleOf({ id: "a" }), scheduleOf({ id: "b" }));
    await publishSchedules(store, clock, 1, scheduleOf({ id: "old" }));
    await publishSchedules(
      store,
      clock,
      3,
      scheduleOf({ id: "b", cron: "0 * * * *" }),
      scheduleOf({ id: "c" }),
    );
    const { version, schedules } = await standing(store, clock);
    expect([version, ...schedules.map(({ schedule }) => `${schedule.id} ${schedule.cron}`)]).toEqual([
      ...[3, "b 0 * * * *", "c * * * * *"],
    ]);
  });

  test("of two servers one does it, until it stops", { tags: ["K3", "K4"] }, async () => {
    const { store, clock } = begin();
    await publishSchedules(store, clock, 1, scheduleOf());
    const worked: string[] = [];
    const dutyOf = (engine: string): Duty => {
      const keeper = keeperOn(store, clock);
      return new Duty({
        ...{ clock, name: "schedules", restMs: 500 },
        leases: new LeaseKeeper(store, clock, { ...OWNER, engine }, () => false, HOUR),
        work: async () => {
          if (await keeper.work()) worked.push(engine);
          return false;
        },
      });
    };
    const [one, two] = [dutyOf("one"), dutyOf("two")];
    const pass = async (): Promise<void> => {
      for (let n = 0; n < 50; n += 1) await Promise.resolve();
    };
    one.start();
    await pass();
    two.start();
    await pass();
    const until = async (count: number): Promise<void> => {
      clock.advance(MINUTE);
      while (worked.length < count) await pass();
    };
    await until(1);
    await until(2);
    await one.stop();
    await until(3);
    await two.stop();
    expect(worked).toEqual(["one", "one", "two"]);
    expect(await minutes(store)).toEqual(["00:01", "00:02", "00:03"]);
  });
});
