import { describe, expect, it } from "vitest";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { workflow } from "./harness.js";
import { findViolations } from "./invariants.js";
import * as undo from "./invariants-undo.js";
import { Stage } from "./stage.js";

const TEXT = `finally: [z]
steps:
  a: { exec: x, undo: ua }
  b: { exec: x, depends_on: a, undo: ub }
  c: { exec: x, depends_on: b }
  ua: { exec: x }
  ub: { exec: x }
  z: { exec: x }`;
const { definition } = workflow(TEXT);

async function goodLog(): Promise<Event[]> {
  const stage = await Stage.begin(TEXT, { c: ["fail"] });
  return (await stage.rest()).log.map(({ event }) => event);
}

function violationsOf(events: readonly Event[]): string[] {
  const log = events.map((event, index): LoggedEvent => ({ seq: index + 1, at: 1_000 + index, event }));
  return findViolations(log, definition).map((violation) => violation.split(":")[0]!);
}

const without = (events: readonly Event[], ...types: Event["type"][]): Event[] =>
  events.filter(({ type }) => !types.includes(type));

/** By invariant: a change to the good log that it must notice. */
const TAMPERINGS: { readonly [invariant: string]: (events: Event[]) => Event[] } = {
  undoListsWhatCompleted: (events) =>
    events.map((event) =>
      event.type === "undo.started" ? { ...event, jobs: event.jobs.toReversed() } : event,
    ),
  aFailedRunIsUndone: (events) => without(events, "undo.left"),
  undoIsOneAtATime: (events) => without(events, "undo.left"),
  finallyAlwaysRuns: (events) => without(events, "finally.entered"),
};

describe("the invariants of undo and finally", () => {
  it("hold for a run that fails and is undone", async () => {
    expect(violationsOf(await goodLog())).toEqual([]);
  });

  it.each(Object.keys(undo))("%s notices a log that breaks it", async (name) => {
    expect(violationsOf(TAMPERINGS[name]!(await goodLog()))).toContain(name);
  });
});
