import { describe, expect, it } from "vitest";
import { replay } from "../../src/core/decide/decision.js";
import type { Event } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/new-run.js";
import type { Run } from "../../src/core/model/run.js";
import { describeSeed, recordedSeed } from "../golden/seed-hashes.js";
import { findViolations } from "../support/invariants.js";
import { snapshotRun } from "../support/run-snapshot.js";
import { type SimResult, Simulation } from "./simulation.js";

/** Of the log alone, whatever snapshots there are. */
function replayWhole({ run: { id, definition }, log }: SimResult): Run {
  const { event, at } = log[0]!;
  const run = newRun(id, definition, event as Extract<Event, { type: "run.created" }>, at);
  replay(run, log);
  return run;
}

const tell = (run: Run): string => JSON.stringify(snapshotRun(run));

/** SEED=n replays one story; SIM_SEEDS=n tells how many to try. */
const only = process.env.SEED === undefined ? null : Number(process.env.SEED);
const count = Number(process.env.SIM_SEEDS ?? 20);
/** SIM_FROM=n begins there. */
const first = Number(process.env.SIM_FROM ?? 1);
/** Of a test: many would outlast its time on a busy machine. */
const BATCH = 50;
const NOT_AS_RECORDED =
  "the log is another than the recorded one; test/golden/README.md says how to see where they differ";

describe("the engine in rough weather", () => {
  const seeds = only === null ? Array.from({ length: count }, (_, index) => index + first) : [only];
  for (let from = 0; from < seeds.length; from += BATCH) {
    const batch = seeds.slice(from, from + BATCH);
    it(`ends every run rightly, seeds ${batch[0]} to ${batch.at(-1)}`, { tags: ["U7"] }, async () => {
      for (const seed of batch) {
        const result = await new Simulation(seed).run();
        if (only !== null && process.env.SHOW_LOG === "1")
          for (const { seq, event } of result.log) console.log(seq, JSON.stringify(event));
        expect(["completed", "failed", "canceled"], `seed ${seed}`).toContain(result.run.status);
        expect(tell(result.run), `seed ${seed}`).toBe(tell(replayWhole(result)));
        expect(result.mixed, `seed ${seed}\n${result.text}`).toEqual([]);
        expect(result.unrecorded, `seed ${seed}\n${result.text}`).toEqual([]);
        expect(result.bookRows, `seed ${seed}\n${result.text}`).toEqual(result.rowsOfLog);
        expect(findViolations(result.log, result.definition), `seed ${seed}\n${result.text}`).toEqual([]);
        const recorded = recordedSeed(seed);
        if (recorded !== null) expect(describeSeed(seed, result.log), NOT_AS_RECORDED).toBe(recorded);
      }
    });
  }
});
