import { describe, expect, it } from "vitest";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { trial, workflow } from "./harness.js";
import { findViolations, INVARIANTS } from "./invariants.js";
import * as heal from "./invariants-heal.js";
import { checkpointed } from "./scripted-worker.js";

const TEXT = `workspace: {}
self_heal: true
queue: { max_attempts: 2 }
steps:
  plan: { exec: plan }
  edit: { exec: edit, depends_on: [plan], on_fail: { retry: { max: 2 }, goto_js: "return visit < 2 && attempt > 3 ? 'plan' : null" } }`;
const { definition } = workflow(TEXT);
const same = { exit: 1, stderr: "no", diffHash: "d" };

/** A run with a soft and a hard reset, a round of the queue, and a goto that takes the workspace back. */
async function goodLog(): Promise<Event[]> {
  const run = await trial(TEXT, {
    plan: [checkpointed("plan")],
    edit: [same, same, same, same, same, checkpointed("edit")],
  });
  return run.log.map(({ event }) => event);
}

function logged(events: readonly Event[]): LoggedEvent[] {
  return events.map((event, index) => ({ seq: index + 1, at: 1_000 + index, event }));
}

const indexOf = (events: readonly Event[], type: Event["type"]) =>
  events.findIndex((event) => event.type === type);
const without = (events: readonly Event[], type: Event["type"]) => events.toSpliced(indexOf(events, type), 1);
const doubled = (events: readonly Event[], type: Event["type"]) =>
  events.toSpliced(indexOf(events, type), 0, events[indexOf(events, type)]!);

/** By invariant: a change to the good log that it must notice. */
const TAMPERINGS: { readonly [invariant: string]: (events: Event[]) => Event[] } = {
  workspaceStepsRunOneAtATime: (events) => without(events, "attempt.succeeded"),
  freshWorkspacesComeOneByOne: (events) => without(events, "workspace.discarded"),
  resetsStayWithinTheirBudget: (events) => doubled(events, "reset.reserved"),
  stepAttemptsAreBounded: (events) => doubled(events, "retry.scheduled"),
  theQueueKeepsItsAttempts: (events) => doubled(events, "requeue.scheduled"),
  onlyStandingCheckpointsAreReplayed: (events) =>
    events.map((event) => (event.type === "rebuild.started" ? { ...event, replay: [1] } : event)),
};

describe("the invariants of workspaces, resets and the queue", () => {
  it("hold for a run with all of them", async () => {
    const events = await goodLog();
    expect(findViolations(logged(events), definition)).toEqual([]);
    for (const type of ["workspace.discarded", "requeue.scheduled", "goto.taken"] as const)
      expect(indexOf(events, type), type).toBeGreaterThan(0);
  });

  it.each(Object.keys(TAMPERINGS))("%s notices a log that breaks it", async (name) => {
    const tampered = logged(TAMPERINGS[name]!(await goodLog()));
    expect(INVARIANTS[name]!(tampered, definition)).toEqual(expect.any(String));
  });

  it("are all shown to notice something", () => {
    expect(Object.keys(TAMPERINGS).toSorted()).toEqual(Object.keys(heal).toSorted());
  });
});
