import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { drive, PLAIN_OPTIONS } from "../../../test/core/drive.js";
import { Chooser } from "../../../test/core/meddling.js";
import { randomWorkflow } from "../../../test/core/random-workflow.js";
import { failureOf } from "../../../test/support/error-record.js";
import { portableRun, withoutNumber } from "../../../test/support/portable-run.js";
import { evolve } from "../../core/evolve/evolve.js";
import type { Event, LoggedEvent } from "../../core/model/events.js";
import { newRun } from "../../core/model/make-run.js";
import { JOB_IDS_PER_RUN, type Run } from "../../core/model/run.js";
import { withJobIds, withOutputPaths } from "./run-document.js";

const RUNS = Number(process.env.PROPERTY_RUNS ?? 100);
const NEW_NUMBER = 7;

function renumbered(log: readonly LoggedEvent[], from: number): LoggedEvent[] {
  const newId = (id: number): number => id + (NEW_NUMBER - from) * JOB_IDS_PER_RUN;
  return log.map(({ seq, at, event }) => ({ seq, at, event: withJobIds(event, newId) }));
}

function replayed(run: Run, log: readonly LoggedEvent[]): Run {
  const { event, at } = log[0]!;
  if (event.type !== "run.created") throw new Error("the log does not begin with run.created");
  const again = newRun(NEW_NUMBER, run.definition, event, at);
  for (const logged of log) evolve(again, logged.event, logged.at);
  return again;
}

describe("the log of any run under another number", () => {
  it("leads to the same state, and no job id of the old run is left in it", () => {
    const types = new Set<string>();
    fc.assert(
      fc.property(
        randomWorkflow,
        fc.array(fc.nat(1000), { minLength: 5, maxLength: 120 }),
        ({ definition }, drawn) => {
          const { run, log } = drive(definition, PLAIN_OPTIONS, new Chooser(drawn), {
            crash: 25,
            cancel: 60,
            meddle: 8,
            capacity: 3,
          });
          const moved = renumbered(log, run.id);
          for (const { event } of log) types.add(event.type);
          expect(withoutNumber(moved, NEW_NUMBER)).toEqual(withoutNumber(log, run.id));
          expect(portableRun(replayed(run, moved))).toEqual(portableRun(run));
        },
      ),
      { numRuns: RUNS, seed: 5 },
    );
    expect(types.size).toBeGreaterThan(30);
  });

  it("leaves the event that it came from as it was", () => {
    const event = { type: "run.held", jobs: [10_000_001] } as const;
    expect(withJobIds(event, (id) => id + 1)).toEqual({ type: "run.held", jobs: [10_000_002] });
    expect(event.jobs).toEqual([10_000_001]);
  });

  it("renumbers the cause of a failure too", () => {
    const error = failureOf({ cause: failureOf() });
    const event = { type: "if.failed", job: 10_000_001, error } as const;
    const moved = { ...error, job_id: 70_000_001, cause: { ...error.cause, job_id: 70_000_001 } };
    expect(withJobIds(event, (id) => id + 60_000_000)).toEqual({ ...event, job: 70_000_001, error: moved });
  });
});

describe("outputs that are kept as files", () => {
  const kept = (path: string) => ({ kind: "artifact", path, bytes: 9, sha256: "0", preview: "" }) as const;
  const origin = { run: 1, attempt: 1 };
  const moved = (event: Event) => withOutputPaths(event, ({ path }) => `new/${path}`);
  const resolved = { type: "hold.resolved", job: 1, action: "complete", reason: "", key: null } as const;

  it.each<[Event, Event]>([
    [
      { type: "job.reused", job: 1, output: kept("a"), items: null, origin },
      { type: "job.reused", job: 1, output: kept("new/a"), items: null, origin },
    ],
    [
      { ...resolved, output: kept("a"), items: null },
      { ...resolved, output: kept("new/a"), items: null },
    ],
    [
      { ...resolved, output: null, items: null },
      { ...resolved, output: null, items: null },
    ],
    [
      {
        ...{ type: "run.forked", from: 1, step: "s", reason: "" },
        reuse: [{ scope: "root", step: "t", output: kept("a"), items: null, origin }],
      },
      {
        ...{ type: "run.forked", from: 1, step: "s", reason: "" },
        reuse: [{ scope: "root", step: "t", output: kept("new/a"), items: null, origin }],
      },
    ],
  ])("move wherever an event has one: %o", (event, expected) => {
    expect(moved(event)).toEqual(expected);
  });
});
