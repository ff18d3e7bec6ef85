import { describe, expect, it } from "vitest";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { workflow } from "./harness.js";
import { findViolations } from "./invariants.js";
import * as park from "./invariants-park.js";
import type { Script } from "./scripted-worker.js";
import { Stage } from "./stage.js";

const TEXT = `breakers: { api: { failures: 1, probe_every: 1m, max_open: 150s } }
steps: { pay: { exec: x, uses: [api], on_fail: { retry: { max: 2 } } } }`;
const { definition } = workflow(TEXT);
const DOWN = { facts: { httpStatus: 503, message: "down" } };

/** A run with two parked attempts: a probe lets the first go on, the end of the breaker's time the second. */
async function goodLog(): Promise<Event[]> {
  const stage = await Stage.begin(TEXT, { pay: [DOWN, DOWN, DOWN, "ok"] });
  return (await stage.rest()).log.map(({ event }) => event);
}

function violationsOf(events: readonly Event[]): string[] {
  const log = events.map((event, index): LoggedEvent => ({ seq: index + 1, at: 1_000 + index, event }));
  return findViolations(log, definition).map((violation) => violation.split(":")[0]!);
}

const indexOf = (events: readonly Event[], type: Event["type"], nth = 0): number =>
  events.flatMap((event, index) => (event.type === type ? [index] : []))[nth]!;

/** By invariant: a change to the good log that it must notice. */
const TAMPERINGS: { readonly [invariant: string]: (events: Event[]) => Event[] } = {
  aParkedAttemptCostsNothing: (events) =>
    events.toSpliced(indexOf(events, "job.parked") + 1, 0, events[indexOf(events, "retry.scheduled")]!),
  everyParkedJobIsReleasedOrClimbs: (events) => events.toSpliced(indexOf(events, "jobs.unparked"), 1),
};

describe("the invariants of parking", () => {
  it("hold for a run that parks, probes and climbs on", async () => {
    const events = await goodLog();
    expect(events.filter(({ type }) => type === "job.parked")).toHaveLength(2);
    expect(violationsOf(events)).toEqual([]);
  });

  it("hold where a goto ends the list that asked for the parked step, which an edge starts again", async () => {
    const text = `breakers: { api: { failures: 1, probe_every: 1m, max_open: 1h } }
steps:
  a: { exec: x }
  asks: { exec: x, depends_on: a, on_success: { run: [pay] }, continue_on_failure: true }
  pay: { exec: x, uses: [api], on_fail: { retry: { max: 2 } } }
  back: { exec: x, depends_on: a, on_fail: { goto: { step: a, max: 1 }, edge: { to: pay } } }`;
    const script = {
      asks: ["ok", "fail"],
      pay: [DOWN, DOWN, "ok"],
      back: [{ ...DOWN, takesMs: 90_000 }, "fail"],
    };
    const run = await (await Stage.begin(text, script as Script)).rest();
    expect(run.order).toEqual(["a", "asks", "back", "pay", "pay", "a", "asks", "back", "pay"]);
    expect(run.events("job.parked")).toHaveLength(1);
    expect(run.events("jobs.unparked")).toEqual([]);
    expect(findViolations(run.log, workflow(text).definition)).toEqual([]);
  });

  it.each(Object.keys(park))("%s notices a log that breaks it", async (name) => {
    expect(violationsOf(TAMPERINGS[name]!(await goodLog()))).toContain(name);
  });
});
