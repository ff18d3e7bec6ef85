import { describe, expect, it } from "vitest";
import type { LoggedEvent } from "../../src/core/model/events.js";
import type { EventRange } from "../../src/store/store.js";
import { isToldInPart, readEventfulLog } from "../../src/tell/eventful-log.js";
import { explainTold } from "../../src/tell/explain.js";
import { adviseOn } from "../../src/tell/next-steps.js";
import { RecoveryReader } from "../../src/tell/recovery-stories.js";
import { RunStoryReader } from "../../src/tell/words/job-story.js";
import { type SimResult, Simulation } from "./simulation.js";

/** Each story is told many times over, so fewer are told than other simulations tell. */
const SEEDS = Math.ceil(Number(process.env.SIM_SEEDS ?? 20) / 5);
/** Of each log the story is told so often, each time of a longer part of it. */
const PARTS = 4;

/** A store in which the run is as this part of its log says. */
const storeOf = (log: readonly LoggedEvent[]) => ({
  readEvents: async (_runId: number, { job, types }: EventRange = {}) =>
    log.filter(
      ({ event }) =>
        (job === undefined || ("job" in event && event.job === job)) &&
        (types === undefined || types.includes(event.type)),
    ),
});

function tell({ run: { id }, definition }: SimResult, log: readonly LoggedEvent[], step?: string) {
  const [teller, recoveries] = [new RunStoryReader(id, definition), new RecoveryReader()];
  for (const logged of log) recoveries.hear(logged, teller.hear(logged));
  const told = teller.told();
  return {
    run: told.run,
    told: (completed: number) => {
      const explained = (full: boolean) => {
        const { run, lines, asked, hasMore } = explainTold(told, {
          full,
          completed,
          ...(step ? { step } : {}),
        });
        const standing = {
          interrupted: false,
          heldBelow: [],
          owner: null,
          childRuns: new Map<number, number>(),
          asked,
          top: 1,
          below: [],
        };
        return { lines, hasMore, advice: adviseOn(run, standing) };
      };
      return { brief: explained(false), full: explained(true), recoveries: recoveries.recoveries };
    },
  };
}

describe("a story told without the attempts of jobs to which nothing else happened", () => {
  it("is the one that the whole log tells, of the run and of each of its jobs", {
    timeout: 3_600_000,
  }, async () => {
    let leftOut = 0;
    for (let seed = 1; seed <= SEEDS; seed += 1) {
      const result = await new Simulation(seed).run();
      const { definition, run } = result;
      for (let part = 1; part <= PARTS; part += 1) {
        const log = result.log.slice(0, Math.ceil((result.log.length * part) / PARTS));
        const whole = tell(result, log);
        const { jobs } = whole.run;
        const completed = jobs.filter(({ status }) => status === "completed").length;
        for (const job of [undefined, ...jobs.filter(({ scope }) => scope.open)]) {
          const asked = job === undefined ? [] : [job.id];
          const eventful = isToldInPart(definition)
            ? await readEventfulLog(storeOf(log), run.id, asked)
            : null;
          if (eventful === null) continue;
          leftOut += log.length - eventful.length;
          const name = job === undefined ? undefined : String(job.id);
          const where = `seed ${seed}, ${log.length} events, ${job?.step.definition.id ?? "all"}`;
          expect(tell(result, eventful, name).told(completed), where).toEqual(
            tell(result, log, name).told(completed),
          );
        }
      }
    }
    expect(leftOut).toBeGreaterThan(SEEDS);
  });
});
