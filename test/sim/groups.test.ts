import { describe, expect, it } from "vitest";
import { GroupsGame } from "./groups.js";

const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
/** Each has many runs and processes: a tenth of the seeds of other simulations takes as long. */
const COUNT = Math.ceil(Number(process.env.SIM_SEEDS ?? 20) / 10);
/** SIM_FROM=n begins there. */
const first = Number(process.env.SIM_FROM ?? 1);
const BATCH = 100;

describe("many runs of concurrency groups, with processes that are killed and people who meddle", () => {
  const seeds = only === null ? Array.from({ length: COUNT }, (_, index) => index + first) : [only];
  for (let from = 0; from < seeds.length; from += BATCH) {
    const batch = seeds.slice(from, from + BATCH);
    it(`keep their limits and their order, seeds ${batch[0]} to ${batch.at(-1)}`, {
      tags: ["G1"],
      timeout: 600_000,
    }, async () => {
      for (const seed of batch) {
        const { runs, violations } = await new GroupsGame(seed).play();
        expect(violations, `seed ${seed}`).toEqual([]);
        for (const { row, log } of runs) {
          const types = log.map(({ event }) => event.type);
          const where = `seed ${seed}, run ${row.id}`;
          expect(types.filter((type) => type === "run.started").length, where).toBeLessThanOrEqual(1);
          expect(row.finished_at, where).not.toBeNull();
        }
      }
    });
  }
});
