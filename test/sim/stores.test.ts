import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { ComparedStores } from "./compared-stores.js";

/** SIM_STORE_SEEDS=n tells how many stories to try, SEED=n replays one. */
const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
const count = Number(process.env.SIM_STORE_SEEDS ?? 12);
const BATCH = 20;
const BATCH_TIMEOUT_MS = 300_000;

describe("a simulated workload", () => {
  let stores: ComparedStores | null = null;
  beforeAll(async () => {
    stores = await ComparedStores.open();
  });
  afterAll(() => stores?.close());
  const seeds = only === null ? Array.from({ length: count }, (_, index) => index + 1) : [only];
  for (let from = 0; from < seeds.length; from += BATCH) {
    const batch = seeds.slice(from, from + BATCH);
    it(
      `ends in the same state on memory, SQLite and PostgreSQL, seeds ${batch[0]} to ${batch.at(-1)}`,
      async () => {
        for (const seed of batch) expect(await stores!.findFaults(seed), `seed ${seed}`).toEqual([]);
      },
      BATCH_TIMEOUT_MS,
    );
  }
});
