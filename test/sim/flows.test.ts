import { describe, expect, it } from "vitest";
import { tellFlow } from "./flow-simulation.js";

/** SEED=n replays one story; SIM_SEEDS=n tells how many to try, SIM_FROM=n where to begin. */
const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
const count = Number(process.env.SIM_SEEDS ?? 20);
const first = Number(process.env.SIM_FROM ?? 1);
const BATCH = 50;

describe("random programs in rough weather", () => {
  const seeds = only === null ? Array.from({ length: count }, (_, index) => index + first) : [only];
  for (let from = 0; from < seeds.length; from += BATCH) {
    const batch = seeds.slice(from, from + BATCH);
    it(`do what they say, and nothing twice that is on record, seeds ${batch[0]} to ${batch.at(-1)}`, async () => {
      for (const seed of batch) {
        const { log, faults } = await tellFlow(seed);
        if (only !== null && process.env.SHOW_LOG === "1")
          for (const { seq, event } of log) console.log(seq, JSON.stringify(event));
        expect(faults, `seed ${seed}`).toEqual([]);
      }
    });
  }
});
