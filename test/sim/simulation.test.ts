import { describe, expect, it } from "vitest";
import { findFaults } from "./faults.js";
import { Simulation } from "./simulation.js";

/** SEED=n replays one story; SIM_SEEDS=n tells how many to try. */
const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
const count = Number(process.env.SIM_SEEDS ?? 20);
/** SIM_FROM=n begins there. */
const first = Number(process.env.SIM_FROM ?? 1);
/** Of a test: many would outlast its time on a busy machine. */
const BATCH = 50;

describe("the engine in rough weather", () => {
  const seeds = only === null ? Array.from({ length: count }, (_, index) => index + first) : [only];
  for (let from = 0; from < seeds.length; from += BATCH) {
    const batch = seeds.slice(from, from + BATCH);
    it(`ends every run rightly, seeds ${batch[0]} to ${batch.at(-1)}`, { tags: ["U7"] }, async () => {
      for (const seed of batch) {
        const result = await new Simulation(seed).run();
        if (only !== null && process.env.SHOW_LOG === "1")
          for (const { seq, event } of result.log) console.log(seq, JSON.stringify(event));
        expect(findFaults(result), `seed ${seed}\n${result.text}`).toEqual([]);
      }
    });
  }
});
