import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { evolve } from "../../src/core/evolve/evolve.js";
import type { LoggedEvent } from "../../src/core/model/events.js";
import { newRun } from "../../src/core/model/make-run.js";
import type { Run } from "../../src/core/model/run.js";
import { decodeRun } from "../../src/core/snapshot/decode-run.js";
import { encodeRun } from "../../src/core/snapshot/encode-run.js";
import { trial } from "../support/harness.js";
import { snapshotRun } from "../support/run-snapshot.js";
import { definitionOf } from "../support/workflow-text.js";
import { type Chances, drive, PLAIN_OPTIONS } from "./drive.js";
import { Chooser } from "./meddling.js";
import { randomWorkflow } from "./random-workflow.js";

/** For a long search elsewhere: `SEED=$RANDOM PROPERTY_RUNS=20000 npx vitest run test/core`. */
const RUNS = Number(process.env.PROPERTY_RUNS ?? 10);
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

describe("a snapshot of a run whose jobs have an order and pass values on", () => {
  const TEXT = `
jobs_sort_method: gpus_runtime_memory
user_data: [{ name: v }, { name: w, data: 1 }]
jobs:
  - { name: short, command: x, output_user_data: [v] }
  - { name: middle, command: x, resource_requirements: { runtime: PT1H } }
  - { name: long, command: x, resource_requirements: { runtime: PT2H } }
  - { name: longest, command: x, resource_requirements: { runtime: PT3H }, depends_on: long }
  - { name: last, command: x, input_user_data: [v, w] }
`;

  it("has the values, and goes on in that order", async () => {
    const { log } = await trial(
      TEXT,
      { short: [{ output: null, userData: { v: [null, { a: 1 }] } }] },
      { capacity: 1 },
    );
    const like = { id: 1, definition: definitionOf(TEXT) } as Run;
    const told = startOf(log, like);
    let carried = startOf(log, like);
    const firsts: (string | undefined)[] = [];
    for (const { event, at } of log) {
      evolve(told, event, at);
      evolve(carried, event, at);
      carried = again(carried, log);
      expectSame(carried, told);
      if (event.type === "jobs.ready") firsts.push([...carried.ready][0]?.step.definition.id);
    }
    expect(firsts).toEqual(["long", "longest", "last"]);
    expect([...carried.userData]).toEqual([["v", [null, { a: 1 }]]]);
  });
});
