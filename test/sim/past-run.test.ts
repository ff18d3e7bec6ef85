import { describe, expect, it } from "vitest";
import { replay } from "../../src/core/decide/decision.js";
import { jobRow } from "../../src/core/evolve/projections.js";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import { createMemoryStore } from "../../src/store/memory/memory-store.js";
import type { Store } from "../../src/store/store.js";
import { pastRun } from "../../src/tell/lookup/past-run.js";
import { type SimResult, Simulation } from "./simulation.js";

const SEEDS = 10;
/** Of each log so many instants are looked back to. */
const INSTANTS = 5;

async function rowsIn(store: Store, runId: number) {
  return {
    run: await store.readRun(runId),
    jobs: await store.readJobs(runId),
    attempts: await store.readAttempts(runId),
    routes: await store.readRoutes(runId),
    checkpoints: await store.readCheckpoints(runId),
    log: await store.readEvents(runId),
  };
}

/** What the first part of a log says of the jobs. */
function jobsOf({ run: { id, definition } }: SimResult, log: readonly LoggedEvent[]) {
  const { event, at } = log[0]!;
  const run = newRun(id, definition, event as Extract<Event, { type: "run.created" }>, at);
  replay(run, log);
  return run.jobs.map((job) => JSON.parse(JSON.stringify(jobRow(run, job))));
}

describe("a run as it was", () => {
  it("after its last event has the rows that it has", { tags: ["S3"] }, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const store = createMemoryStore();
      const { run, log } = await new Simulation(seed, store).run();
      const past = await pastRun(store, run.id, log.at(-1)!.seq);
      const now = await rowsIn(store, run.id);
      // Whether an engine is wanted, and which place it has in its group, is in no log.
      const then = await rowsIn(past.store, run.id);
      expect(then, `seed ${seed}`).toEqual({ ...now, run: { ...now.run, wanted: then.run?.wanted } });
    }
  });

  it("after an earlier event has those of the log until then", { tags: ["S3"] }, async () => {
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const store = createMemoryStore();
      const result = await new Simulation(seed, store).run();
      const { run, log } = result;
      for (let part = 1; part < INSTANTS; part += 1) {
        const first = log.slice(0, Math.ceil((log.length * part) / INSTANTS));
        const { store: past } = await pastRun(store, run.id, first.at(-1)!.seq);
        expect(await past.readEvents(run.id), `seed ${seed}`).toEqual(first);
        const jobs = [...(await past.readJobs(run.id))].sort((one, other) => one.id - other.id);
        expect(jobs, `seed ${seed}, ${first.length} events`).toEqual(jobsOf(result, first));
      }
    }
  });
});
