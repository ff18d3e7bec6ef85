import { expect, test } from "vitest";
import { nextTick } from "../../src/core/schedule/ticks.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";
import { ManualClock } from "../support/manual-clock.js";
import {
  firedTicks,
  keeperOn,
  makeRun,
  publishSchedules,
  scheduleOf,
  standing,
} from "../support/schedule-world.js";
import { Random } from "./random.js";

/** Of what the other simulations try: each of these stories has a hundred runs. */
const SEEDS = Math.ceil(Number(process.env.SIM_SEEDS ?? 20) / 5);
const T0 = Date.parse("2026-03-28T22:00:00Z");
const ROUNDS = 15;
const CRONS = ["*/2 * * * *", "*/7 * * * *", "20,40 * * * *", "30 2 * * *"];
const ZONES = ["UTC", "Europe/Berlin", "Australia/Lord_Howe"];

/** Writes of a server that is killed before or after them. */
function mortal(store: Store, random: Random): Store {
  const mayDie = (): void => {
    if (random.chance(0.05)) throw new Error("killed");
  };
  return {
    ...store,
    writeShared: async (rows) => {
      mayDie();
      const written = await store.writeShared(rows);
      mayDie();
      return written;
    },
    commit: async (appends) => {
      mayDie();
      await store.commit(appends);
      mayDie();
    },
  };
}

/** Three servers at once, none of which asks for a lease, killed at any write; time passes in jumps. */
async function story(
  seed: number,
): Promise<{ readonly fired: string[]; readonly due: string[]; readonly left: number }> {
  const random = new Random(seed);
  const [store, clock] = [createMemoryStore(), new ManualClock(T0)];
  const times = { cron: random.pick(CRONS), timezone: random.pick(ZONES) };
  const jitterMs = random.pick([0, 0, 20_000]);
  await publishSchedules(store, clock, 1, scheduleOf({ ...times, jitterMs, catchUp: "all" }));
  const newServer = () => {
    const own = mortal(store, random);
    return keeperOn(own, clock, makeRun(own));
  };
  const servers = [newServer(), newServer(), newServer()];
  for (let round = 0; round < ROUNDS; round += 1) {
    // Within what is made up for, and sometimes back a little.
    clock.advance(random.between(0, 20) * 60_000);
    if (random.chance(0.2)) clock.set(-random.between(0, 30) * 60_000);
    await Promise.all(
      servers.map((server, place) =>
        server.work().catch(() => {
          servers[place] = newServer();
        }),
      ),
    );
  }
  clock.advance(15 * 60_000 + 40_000);
  const last = keeperOn(store, clock);
  while (await last.work());
  const due: string[] = [];
  for (let tick = nextTick(times, T0); tick !== null && tick <= clock.now(); tick = nextTick(times, tick))
    if (jitterMs === 0 || tick <= clock.now() - jitterMs)
      due.push(new Date(tick).toISOString().replace(".000Z", "Z"));
  const [{ firing }] = (await standing(store, clock)).schedules as unknown as [{ firing: readonly number[] }];
  return { fired: await firedTicks(store), due, left: firing.length };
}

test("whoever is killed and however clocks are set, every tick fires exactly once", {
  tags: ["K4"],
}, async () => {
  for (let seed = 1; seed <= SEEDS; seed += 1) {
    const { fired, due, left } = await story(seed);
    expect(new Set(fired).size, `seed ${seed}: a tick has two runs`).toBe(fired.length);
    expect(left, `seed ${seed}: a tick is left`).toBe(0);
    expect(fired, `seed ${seed}`).toEqual(expect.arrayContaining(due));
  }
});
