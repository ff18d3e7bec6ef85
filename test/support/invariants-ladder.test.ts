import { describe, expect, it } from "vitest";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { workflow } from "./harness.js";
import { findViolations, INVARIANTS } from "./invariants.js";
import * as ladder from "./invariants-ladder.js";
import { Stage } from "./stage.js";

const TEXT = `unhandled: hold
max_recoveries: 1
failure_handlers: [{ name: h, rules: [{ exit_codes: [10], recovery_script: ./fix.sh, max_retries: 2, scale: { memory: 2 } }] }]
steps:
  job: { exec: make, failure_handler: h, resource_requirements: { memory: 1m } }
  bad: { exec: make }
  fix: { exec: make }
  stuck: { exec: make }
transitions: [{ from: bad, to: fix, on: failure }]`;
const { definition } = workflow(TEXT);

/** A run with a rule and its script, an edge, a pause, a hold and its resolution. */
async function goodLog(): Promise<Event[]> {
  const stage = await Stage.begin(TEXT, {
    job: [{ facts: { message: "too much", exitCode: 10, declared: { code: "OOM" } } }, "ok"],
    "job script": [{ output: null, takesMs: 10 }],
    bad: ["fail"],
    stuck: ["fail", "ok"],
  });
  await stage.operate({ type: "run.pause", takeover: false });
  await stage.rest();
  await (await stage.resume()).rest();
  const job = await stage.id("stuck");
  await stage.operate({
    type: "holds.resolve",
    items: [{ job, action: "retry", output: null, items: null }],
  });
  return (await (await stage.resume()).rest()).log.map(({ event }) => event);
}

function logged(events: readonly Event[]): LoggedEvent[] {
  return events.map((event, index) => ({ seq: index + 1, at: 1_000 + index, event }));
}

function indexOf(events: readonly Event[], type: Event["type"], nth = 0): number {
  return events.flatMap((event, index) => (event.type === type ? [index] : []))[nth]!;
}

const without = (events: readonly Event[], type: Event["type"], nth = 0) =>
  events.toSpliced(indexOf(events, type, nth), 1);
const copied = (events: readonly Event[], type: Event["type"], to: number) =>
  events.toSpliced(to, 0, events[indexOf(events, type)]!);

/** By invariant: a change to the good log that it must notice. */
const TAMPERINGS: { readonly [invariant: string]: (events: Event[]) => Event[] } = {
  noAttemptWithoutAReservation: (events) => without(events, "rule.reserved"),
  rulesKeepTheirAttempts: (events) =>
    copied(events, "rule.reserved", indexOf(events, "attempt.succeeded", 2) + 1),
  resourcesOnlyGrow: (events) =>
    events.map((event) =>
      event.type === "rule.reserved" ? { ...event, raised: { ...event.raised!, to: 1024 ** 2 } } : event,
    ),
  recoveryScriptsRunBetweenReservationAndReady: (events) => without(events, "recovery.finished"),
  holdsAreResolvedOnce: (events) => copied(events, "hold.resolved", events.length - 1),
  noFailureIsSettledTwice: (events) => copied(events, "routes.settled", events.length - 1),
  nothingStartsInAPausedRun: (events) => without(events, "run.unpaused"),
  aHeldRunHasNothingUnderWay: (events) => without(events, "attempt.succeeded"),
  handledImpliesACompletedHandler: (events) => events.filter(({ type }) => type !== "edge.taken"),
};

describe("the invariants of rules, edges, holds and pauses", () => {
  it("hold for a run with all of them", async () => {
    expect(findViolations(logged(await goodLog()), definition)).toEqual([]);
  });

  it.each(Object.keys(TAMPERINGS))("%s notices a log that breaks it", async (name) => {
    const tampered = logged(TAMPERINGS[name]!(await goodLog()));
    expect(INVARIANTS[name]!(tampered, definition)).toEqual(expect.any(String));
  });

  it("are all shown to notice something", () => {
    const all = [...Object.keys(ladder), "handledImpliesACompletedHandler"];
    expect(Object.keys(TAMPERINGS).toSorted()).toEqual(all.toSorted());
  });
});
