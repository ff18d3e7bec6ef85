import { isDeepStrictEqual } from "node:util";
import type { Store } from "../../src/store/store.js";
import { openInFreshFolder } from "../contract/sqlite-folder.js";
import { openInFreshSchema } from "../support/embedded-postgres.js";
import { recordCalls, replay } from "./recorded-store.js";
import { Simulation } from "./simulation.js";

interface Database {
  readonly store: Store;
  empty(): void | Promise<void>;
  dispose(): Promise<void>;
}

/**
 * SQLite and PostgreSQL beside the memory store. The engine decides by what the store answers and by nothing else that is
 * not seeded. So where another store gives the same answer to every call of a story, the story on it is the same one, and
 * ends in the same state.
 */
export class ComparedStores {
  private constructor(private readonly databases: readonly (readonly [name: string, database: Database])[]) {}

  static async open(): Promise<ComparedStores> {
    const [sqlite, postgres] = [await openInFreshFolder(), await openInFreshSchema()];
    return new ComparedStores([
      ["SQLite", sqlite],
      ["PostgreSQL", postgres],
    ]);
  }

  /** All in which they differ from the memory store after the story of a seed, each in a sentence. */
  async findFaults(seed: number): Promise<string[]> {
    const { store: memory, calls } = recordCalls();
    const { run } = await new Simulation(seed, memory).run();
    const story = [...calls];
    const faults: string[] = [];
    if (!["completed", "failed", "canceled"].includes(run.status)) faults.push(`the run is ${run.status}`);
    if (!story.some(({ verb }) => verb === "commit")) faults.push("nothing was committed");
    const expected = await readEverything(memory);
    for (const [name, { store, empty }] of this.databases) {
      await empty();
      const other = await replay(story, store);
      if (other !== null) faults.push(`${name}: ${other}`);
      const found = await readEverything(store);
      for (const [what, rows] of Object.entries(expected))
        if (!isDeepStrictEqual(found[what], rows))
          faults.push(
            `${name}: ${what} are ${JSON.stringify(found[what])} instead of ${JSON.stringify(rows)}`,
          );
    }
    return faults;
  }

  async close(): Promise<void> {
    for (const [, database] of this.databases) await database.dispose();
  }
}

async function readEverything(store: Store): Promise<{ readonly [what: string]: unknown }> {
  const runs = await store.listRuns({});
  const tables: unknown[] = [];
  for (const { id } of runs) {
    tables.push(await store.readEvents(id), await store.readJobs(id), await store.readAttempts(id));
    tables.push(await store.readRoutes(id), await store.readLease(id), await store.readCheckpoints(id));
  }
  return {
    runs,
    "the rows of runs": tables,
    workflows: await store.listWorkflows({}),
    handlers: await store.listFailureHandlers(),
  };
}
