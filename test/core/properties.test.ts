import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "../../src/core/decide/decide.js";
import { evolve } from "../../src/core/evolve/evolve.js";
import type { RunOptions } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Run } from "../../src/core/model/run.js";
import { findViolations } from "../support/invariants.js";
import { snapshotRun } from "../support/run-snapshot.js";
import { type Chances, type Driven, drive, PLAIN_OPTIONS, refold } from "./drive.js";
import { Chooser } from "./meddling.js";
import { randomWorkflow } from "./random-workflow.js";

/** For a long search elsewhere: `SEED=$RANDOM PROPERTY_RUNS=20000 npx vitest run test/core`. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 20);
const SEED = Number(process.env.SEED ?? 8);
const choices = fc.array(fc.nat(1000), { minLength: 5, maxLength: 120 });
const capacity = fc.integer({ min: 1, max: 4 });
const options: fc.Arbitrary<RunOptions> = fc.record({
  max_loops: fc.option(fc.nat(3), { freq: 2 }),
  retry_max: fc.option(fc.nat(2), { freq: 2 }),
  failure_routing: fc.constantFrom(true, true, true, false),
  only: fc.constant(null),
});

function check(
  chances: Omit<Chances, "capacity">,
  verify: (driven: Driven) => void,
  runOptions = fc.constant(PLAIN_OPTIONS),
): void {
  fc.assert(
    fc.property(randomWorkflow, choices, capacity, runOptions, ({ definition }, drawn, slots, chosen) => {
      verify(drive(definition, chosen, new Chooser(drawn), { ...chances, capacity: slots }));
    }),
    { numRuns: RUNS, seed: SEED },
  );
}

/** The run of a log as it was before its first command. */
function unstarted({ run, log }: Driven): Run {
  const { event, at } = log[0]!;
  if (event.type !== "run.created") throw new Error("the log does not begin with run.created");
  const again = newRun(1, run.definition, event, at);
  evolve(again, event, at);
  return again;
}

const CIRCUMSTANCES: readonly (readonly [string, Omit<Chances, "capacity">])[] = [
  ["undisturbed", { crash: 0, cancel: 0, meddle: 0 }],
  ["with crashes", { crash: 12, cancel: 0, meddle: 0 }],
  ["canceled", { crash: 30, cancel: 25, meddle: 0 }],
  ["operated", { crash: 25, cancel: 60, meddle: 8 }],
];

describe.each(CIRCUMSTANCES)("any workflow with any outcomes, %s", (_, chances) => {
  it("comes to an end and keeps every invariant", () => {
    check(chances, ({ stuck, log, run }) => {
      expect(stuck).toBeNull();
      expect(findViolations(log, run.definition)).toEqual([]);
    });
  });

  it("is told in full by its log", () => {
    check(chances, ({ run, log }) =>
      expect(snapshotRun(refold(run.definition, log))).toEqual(snapshotRun(run)),
    );
  });
});

describe("any workflow with any outcomes", () => {
  it("keeps every invariant under the options of a run", () => {
    check(
      { crash: 20, cancel: 0, meddle: 20 },
      ({ stuck, log, run }) => {
        expect(stuck).toBeNull();
        expect(findViolations(log, run.definition)).toEqual([]);
      },
      options,
    );
  });

  it("gives the same events for the same commands", () => {
    check({ crash: 0, cancel: 0, meddle: 10 }, (driven) => {
      const again = unstarted(driven);
      const events = driven.commands.flatMap(({ command, now }) => decide(again, command, now));
      expect(events).toEqual(driven.log.slice(1).map(({ event }) => event));
    });
  });

  it("takes no notice of a command that comes twice", () => {
    check({ crash: 0, cancel: 0, meddle: 10 }, (driven) => {
      const again = unstarted(driven);
      for (const { command, now } of driven.commands) {
        decide(again, command, now);
        expect(decide(again, command, now)).toEqual([]);
      }
    });
  });
});
