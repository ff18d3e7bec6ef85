import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evolve } from "../../src/core/evolve/evolve.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/new-run.js";
import type { Run } from "../../src/core/model/run.js";
import { decodeRun } from "../../src/core/snapshot/decode-run.js";
import { encodeRun } from "../../src/core/snapshot/encode-run.js";
import { snapshotRun } from "../support/run-snapshot.js";
import { type Chances, drive, PLAIN_OPTIONS } from "./drive.js";
import { Chooser } from "./meddling.js";
import { randomWorkflow } from "./random-workflow.js";

/** For a long search elsewhere: `SEED=$RANDOM PROPERTY_RUNS=20000 npx vitest run test/core`. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 25);
const SEED = Number(process.env.SEED ?? 8);
const ROUGH: Chances = { capacity: 3, crash: 25, cancel: 60, meddle: 8 };

function startOf(log: readonly LoggedEvent[], like: Run): Run {
  const { event, at } = log[0]!;
  if (event.type !== "run.created") throw new Error("the log does not begin with run.created");
  return newRun(like.id, like.definition, event, at);
}

/** The same run from its snapshot. */
function again(run: Run, log: readonly LoggedEvent[]): Run {
  const lines = [...encodeRun(run)];
  const made = startOf(log, run);
  decodeRun(made, lines);
  return made;
}

/** The text first: a comparison that can explain itself takes twenty times as long. */
function expectSame(actual: Run, expected: Run): void {
  const [one, other] = [snapshotRun(actual), snapshotRun(expected)];
  if (JSON.stringify(one) !== JSON.stringify(other)) expect(one).toEqual(other);
}

function checkLogs(verify: (run: Run, log: readonly LoggedEvent[]) => void): void {
  const choices = fc.array(fc.nat(1000), { minLength: 5, maxLength: 120 });
  fc.assert(
    fc.property(randomWorkflow, choices, ({ definition }, drawn) => {
      const { run, log } = drive(definition, PLAIN_OPTIONS, new Chooser(drawn), ROUGH);
      verify(run, JSON.parse(JSON.stringify(log)) as LoggedEvent[]);
    }),
    { numRuns: RUNS, seed: SEED },
  );
}

describe("a snapshot of any run", () => {
  it("is the run that its log tells, at every position", () => {
    checkLogs((run, log) => {
      const told = startOf(log, run);
      for (const { event, at } of log) {
        evolve(told, event, at);
        expectSame(again(told, log), told);
      }
      expectSame(told, run);
    });
  });

  it("goes on as the run would, even if there is one after every event", () => {
    checkLogs((run, log) => {
      let carried = startOf(log, run);
      for (const { event, at } of log) {
        evolve(carried, event, at);
        carried = again(carried, log);
      }
      expectSame(carried, run);
      expect(carried.dirty.size).toBe(0);
    });
  });
});
