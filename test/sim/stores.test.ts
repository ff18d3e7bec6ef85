import { describe, expect, it } from "vitest";
import type { Store } from "../../src/store/store.js";
import { openInFreshFolder } from "../contract/sqlite-folder.js";
import { openInFreshSchema } from "../support/embedded-postgres.js";
import { recordCalls, replay } from "./recorded-store.js";
import { Simulation } from "./simulation.js";

/** SIM_STORE_SEEDS=n tells how many stories to try, SEED=n replays one. */
const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
const count = Number(process.env.SIM_STORE_SEEDS ?? 12);
const BATCH = 20;
const BATCH_TIMEOUT_MS = 300_000;

/**
 * The engine decides by what the store answers and by nothing else that is not seeded. So where another store gives the
 * same answer to every call of a story, the story on it is the same one, and ends in the same state.
 */
describe("a simulated workload", () => {
  const seeds = only === null ? Array.from({ length: count }, (_, index) => index + 1) : [only];
  for (let from = 0; from < seeds.length; from += BATCH) {
    const batch = seeds.slice(from, from + BATCH);
    it(
      `ends in the same state on memory, SQLite and PostgreSQL, seeds ${batch[0]} to ${batch.at(-1)}`,
      async () => {
        for (const seed of batch) await compareStores(seed);
      },
      BATCH_TIMEOUT_MS,
    );
  }
});

async function compareStores(seed: number): Promise<void> {
  const { store: memory, calls } = recordCalls();
  const { run } = await new Simulation(seed, memory).run();
  expect(["completed", "failed", "canceled"], `seed ${seed}`).toContain(run.status);
  const story = [...calls];
  expect(story.filter(({ verb }) => verb === "commit").length, `seed ${seed}`).toBeGreaterThan(0);
  const expected = await readEverything(memory);
  for (const [name, open] of [
    ["SQLite", openInFreshFolder],
    ["PostgreSQL", openInFreshSchema],
  ] as const) {
    const database = await open();
    try {
      expect(await replay(story, database.store), `seed ${seed} on ${name}`).toBeNull();
      expect(await readEverything(database.store), `seed ${seed} on ${name}`).toEqual(expected);
    } finally {
      await database.dispose();
    }
  }
}

async function readEverything(store: Store): Promise<unknown> {
  const runs = await store.listRuns({});
  const tables: unknown[] = [];
  for (const { id } of runs) {
    tables.push(await store.readEvents(id), await store.readJobs(id), await store.readAttempts(id));
    tables.push(await store.readRoutes(id), await store.readLease(id), await store.readCheckpoints(id));
  }
  return {
    runs,
    tables,
    workflows: await store.listWorkflows({}),
    handlers: await store.listFailureHandlers(),
  };
}
