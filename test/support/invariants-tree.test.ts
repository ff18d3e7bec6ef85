import { describe, expect, it } from "vitest";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { trial, workflow } from "./harness.js";
import { findViolations, INVARIANTS } from "./invariants.js";
import * as tree from "./invariants-tree.js";
import { checkpointed } from "./scripted-worker.js";

const TEXT = `workspace: {}
transitions: [{ from: agent, to: fallback, on: failure }]
steps:
  agent: { exec: edit, on_fail: { retry: { max: 1 }, run: [fix] } }
  bad: { exec: edit }
  plan: { exec: edit }
  judge: { exec: edit, depends_on: [plan], on_fail: { goto: { step: plan, max: 1, files: keep } } }
  other: { exec: edit, depends_on: [judge] }
  fix: { exec: edit, start: routed }
  fallback: { exec: edit, start: routed }`;
const { definition } = workflow(TEXT);
const no = { exit: 1, stderr: "no" };
const gone = { facts: { lost: true, message: "gone" } };

/** A retry, a repair, an edge, a lost attempt, a way back, and a failure that another step comes after. */
async function goodLog(): Promise<Event[]> {
  const run = await trial(TEXT, {
    agent: [no, no, no],
    fix: [checkpointed("fix")],
    fallback: [gone, checkpointed("fallback")],
    bad: [gone, no],
    plan: [checkpointed("plan"), checkpointed("plan2")],
    judge: [no, checkpointed("judge")],
    other: [checkpointed("other")],
  });
  return run.log.map(({ event }) => event);
}

function logged(events: readonly Event[]): LoggedEvent[] {
  return events.map((event, index) => ({ seq: index + 1, at: 1_000 + index, event }));
}

/** The nth event of a type. */
const place = (events: readonly Event[], type: Event["type"], nth = 0): number =>
  events.flatMap((event, index) => (event.type === type ? [index] : []))[nth]!;

/** The last attempt, which is of a step that has nothing to do with the others, begins before this event. */
function intrude(events: readonly Event[], before: number): Event[] {
  const intruder = events.findLast(({ type }) => type === "attempt.started")!;
  const ended = events.findLast(({ type }) => type === "attempt.succeeded")!;
  const rest = events.filter((event) => event !== intruder && event.type !== "run.failed");
  return rest.toSpliced(before, 0, intruder, ended);
}

const TAMPERINGS: { readonly [invariant: string]: readonly ((events: Event[]) => Event[])[] } = {
  theTreeBelongsToAFailureWhileItIsMended: [
    (events) => intrude(events, place(events, "retry.scheduled") + 1),
    (events) => intrude(events, place(events, "visit.entered") + 2),
    (events) => intrude(events, place(events, "restart.granted") + 2),
  ],
  nobodyComesBetweenAWayBackAndItsTarget: [
    (events) =>
      intrude(
        events,
        events.findIndex((event) => event.type === "jobs.ready" && event.reason === "goto") + 1,
      ),
  ],
  nothingStartsAmongTheRemainsOfOthers: [
    (events) => events.filter(({ type }) => !type.startsWith("set_aside")),
    (events) => events.toSpliced(place(events, "set_aside.finished"), 1),
  ],
  settingAsideComesToItsEnd: [
    (events) => events.toSpliced(place(events, "set_aside.finished"), 1),
    (events) => events.toSpliced(place(events, "set_aside.started"), 1),
  ],
};

describe("the invariants of the tree", () => {
  it("hold for a run with all of it", async () => {
    const events = await goodLog();
    expect(findViolations(logged(events), definition)).toEqual([]);
    for (const type of [
      "retry.scheduled",
      "visit.entered",
      "edge.taken",
      "restart.granted",
      "goto.taken",
    ] as const)
      expect(place(events, type), type).toBeGreaterThan(0);
    expect(events.filter(({ type }) => type === "set_aside.finished")).toHaveLength(3);
  });

  it("let another step begin when what an edge led to has failed, though a later visit of it was asked for", async () => {
    const text = `workspace: {}
unhandled: fail
transitions: [{ from: agent, to: tell, on: failure }]
steps:
  agent: { exec: edit }
  ask: { type: noop, on_fail: { run: [tell] } }
  other: { exec: edit }
  tell: { exec: edit, start: routed }`;
    const run = await trial(text, {
      agent: [no],
      ask: [{ exit: 1, takesMs: 50 }, "ok"],
      tell: [{ ...no, takesMs: 100 }, checkpointed("tell")],
      other: [checkpointed("other")],
    });
    expect(run.order).toEqual(["agent", "ask", "tell", "other", "tell", "ask"]);
    expect(findViolations(run.log, workflow(text).definition)).toEqual([]);
  });

  it("let what mends a failure begin before a target, though the edge found it scheduled already", async () => {
    const text = `workspace: {}
transitions: [{ from: agent, to: other, on: failure }]
steps:
  plan: { exec: edit }
  ask: { type: noop, depends_on: [plan], on_fail: { goto: { step: plan, max: 1, files: keep } } }
  agent: { exec: edit, start: auto }
  other: { exec: edit, start: auto }`;
    const run = await trial(text, {
      plan: [checkpointed("plan"), checkpointed("again")],
      ask: [{ exit: 1, takesMs: 50 }, "ok"],
      agent: [{ ...no, takesMs: 100 }],
      other: [checkpointed("other")],
    });
    expect(run.order).toEqual(["plan", "agent", "ask", "other", "plan", "ask"]);
    expect(findViolations(run.log, workflow(text).definition)).toEqual([]);
  });

  it("let another step begin when what an edge led to has failed, though an edge of another step goes back to it", async () => {
    const text = `workspace: {}
unhandled: fail
transitions:
  - { from: agent, to: tell, on: failure }
  - { from: ask, to: tell, on: success }
steps:
  agent: { exec: edit }
  ask: { type: noop, on_success: { run: [tell] } }
  other: { exec: edit }
  tell: { exec: edit, start: routed }`;
    const run = await trial(text, {
      agent: [{ ...no, takesMs: 100 }],
      ask: [{ output: null, takesMs: 50 }],
      tell: [no, checkpointed("tell")],
      other: [checkpointed("other")],
    });
    expect(run.order).toEqual(["agent", "ask", "tell", "other", "tell"]);
    expect(findViolations(run.log, workflow(text).definition)).toEqual([]);
  });

  it.each(Object.keys(TAMPERINGS))("%s notices a log that breaks it", async (name) => {
    const events = await goodLog();
    for (const tamper of TAMPERINGS[name]!)
      expect(INVARIANTS[name]!(logged(tamper([...events])), definition)).toEqual(expect.any(String));
  });

  it("are all shown to notice something", () => {
    expect(Object.keys(TAMPERINGS).toSorted()).toEqual(Object.keys(tree).toSorted());
  });
});
