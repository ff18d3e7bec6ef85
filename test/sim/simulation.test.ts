import { describe, expect, it } from "vitest";
import { findViolations } from "../support/invariants.js";
import { Simulation } from "./simulation.js";

/** SEED=n replays one story; SIM_SEEDS=n tells how many to try. */
const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
const count = Number(process.env.SIM_SEEDS ?? 250);
const BATCH = 250;

describe("the engine in rough weather", () => {
  const seeds = only === null ? Array.from({ length: count }, (_, index) => index + 1) : [only];
  for (let from = 0; from < seeds.length; from += BATCH) {
    const batch = seeds.slice(from, from + BATCH);
    it(`ends every run rightly, seeds ${batch[0]} to ${batch.at(-1)}`, async () => {
      for (const seed of batch) {
        const result = await new Simulation(seed).run();
        if (only !== null && process.env.SHOW_LOG === "1")
          for (const { seq, event } of result.log) console.log(seq, JSON.stringify(event));
        expect(["completed", "failed", "canceled"], `seed ${seed}`).toContain(result.run.status);
        expect(result.mixed, `seed ${seed}\n${result.text}`).toEqual([]);
        expect(result.unrecorded, `seed ${seed}\n${result.text}`).toEqual([]);
        expect(findViolations(result.log, result.definition), `seed ${seed}\n${result.text}`).toEqual([]);
      }
    });
  }
});
