import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { decide } from "../../src/core/decide.js";
import { evolve } from "../../src/core/evolve.js";
import { newRun } from "../../src/core/run.js";
import { INVARIANTS } from "../support/invariants.js";
import { snapshotRun } from "../support/run-snapshot.js";
import { Chooser, type Chances, type Driven, drive, PLAIN_OPTIONS, refold } from "./drive.js";
import { randomWorkflow } from "./random-workflow.js";

const RUNS = Number(process.env.PROPERTY_RUNS ?? 300);
const choices = fc.array(fc.nat(1000), { minLength: 5, maxLength: 120 });
const capacity = fc.integer({ min: 1, max: 4 });

function check(chances: Omit<Chances, "capacity">, verify: (driven: Driven) => void): void {
  fc.assert(
    fc.property(randomWorkflow, choices, capacity, ({ definition }, drawn, slots) => {
      verify(drive(definition, PLAIN_OPTIONS, new Chooser(drawn), { ...chances, capacity: slots }));
    }),
    { numRuns: RUNS },
  );
}

const calm = { crash: 0, cancel: 0 };
const crashing = { crash: 12, cancel: 0 };
const canceled = { crash: 30, cancel: 25 };

describe("any workflow with any outcomes", () => {
  it.each([["undisturbed", calm], ["with crashes", crashing], ["canceled", canceled]])("comes to an end, %s", (_, chances) => {
    check(chances, ({ stuck }) => expect(stuck).toBeNull());
  });

  it.each([["undisturbed", calm], ["with crashes", crashing], ["canceled", canceled]])("is told by its log in full, %s", (_, chances) => {
    check(chances, ({ run, log }) => expect(snapshotRun(refold(run.definition, log))).toEqual(snapshotRun(run)));
  });

  it("gives the same events for the same commands", () => {
    check(calm, ({ run, log, commands }) => {
      const created = log[0]!.event;
      if (created.type !== "run.created") throw new Error("no run.created");
      const again = newRun(1, run.definition, created, log[0]!.at);
      evolve(again, created, log[0]!.at);
      const events = commands.flatMap(({ command, now }) => decide(again, command, now));
      expect(events).toEqual(log.slice(1).map(({ event }) => event));
    });
  });

  it("takes no notice of a command that comes twice", () => {
    check(calm, ({ run, log, commands }) => {
      const created = log[0]!.event;
      if (created.type !== "run.created") throw new Error("no run.created");
      const again = newRun(1, run.definition, created, log[0]!.at);
      evolve(again, created, log[0]!.at);
      for (const { command, now } of commands) {
        decide(again, command, now);
        expect(decide(again, command, now)).toEqual([]);
      }
    });
  });

  describe.each([["undisturbed", calm], ["with crashes", crashing], ["canceled", canceled]])("%s", (_, chances) => {
    it.each(Object.keys(INVARIANTS))("%s", (name) => {
      check(chances, ({ run, log }) => expect(INVARIANTS[name]!(log, run.definition)).toBeNull());
    });
  });
});
