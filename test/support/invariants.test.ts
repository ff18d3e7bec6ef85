import { describe, expect, it } from "vitest";
import type { Event, LoggedEvent } from "../../src/core/model/events.js";
import { trial, workflow } from "./harness.js";
import { findViolations, INVARIANTS } from "./invariants.js";
import * as heal from "./invariants-heal.js";
import * as ladder from "./invariants-ladder.js";
import * as park from "./invariants-park.js";
import * as then from "./invariants-then.js";
import * as tree from "./invariants-tree.js";
import * as undo from "./invariants-undo.js";

const TEXT = `routing: { max_loops: 2 }
steps:
  setup: { exec: make }
  build: { exec: make, depends_on: setup, on_fail: { retry: { max: 1 }, run: [fix], goto: { step: setup, max: 1 } } }
  fix: { exec: make }
  slow: { exec: make, depends_on: setup }
  after: { exec: make, depends_on: build }`;
const { definition } = workflow(TEXT);

/** A run with a retry, a repair and a goto that ends a running attempt. */
async function goodLog(): Promise<Event[]> {
  const { log } = await trial(TEXT, {
    build: ["fail", "fail", "fail", "ok"],
    slow: [{ output: null, takesMs: 50 }, "ok"],
    fix: [{ output: null, takesMs: 5 }],
  });
  return log.map(({ event }) => event);
}

function logged(events: readonly Event[]): LoggedEvent[] {
  return events.map((event, index) => ({ seq: index + 1, at: 1_000 + index, event }));
}

function indexOf(events: readonly Event[], type: Event["type"], nth = 0): number {
  return events.flatMap((event, index) => (event.type === type ? [index] : []))[nth]!;
}

/** By invariant: a change to the good log that it must notice. */
const TAMPERINGS: { readonly [invariant: string]: (events: Event[]) => Event[] } = {
  anEventNamesItsJobFirst: (events) =>
    events.map(({ type, ...event }) => ({ ...event, type }) as unknown as Event),
  attemptsAreNumberedWithoutGaps: (events) => edit(events, "attempt.started", 2, { attempt: 9 }),
  oneAttemptOfAJobAtATime: (events) => repeat(events, indexOf(events, "attempt.started")),
  everyAttemptEnds: (events) => events.toSpliced(indexOf(events, "attempt.stopped"), 1),
  onlyReadyJobsStart: (events) => events.toSpliced(indexOf(events, "jobs.ready"), 1),
  nothingStartsBehindABarrier: (events) => {
    const start = indexOf(events, "attempt.started");
    return events.toSpliced(indexOf(events, "barrier.closed"), 0, events[start]!);
  },
  everyFailureClimbsOnce: (events) => events.toSpliced(indexOf(events, "ladder.climbed"), 1),
  retriesOfAVisitStayWithinMax: (events) => repeat(events, indexOf(events, "retry.scheduled")),
  gotosStayWithinTheirBound: (events) => repeat(events, indexOf(events, "goto.taken")),
  loopBudgetIsKept: (events) => repeat(events, indexOf(events, "goto.taken")),
  gotosLeadBackWithinTheScope: (events) => edit(events, "goto.taken", 0, { target: jobOf(events, "after") }),
  dependentsWaitForWhatTheyNeed: (events) => events.toSpliced(indexOf(events, "attempt.succeeded"), 1),
  visitsAnswerRequests: (events) => events.toSpliced(indexOf(events, "visit.requested"), 1),
  visitsNeverFallBack: (events) => edit(events, "attempt.started", 1, { visit: 7 }),
  theRunEndsOnceAndLast: (events) => repeat(events, events.length - 1),
  aDeadlineCancelsNoSooner: (events) => [
    ...events.slice(0, -1),
    { type: "time.counted", deadline_at: Number.MAX_SAFE_INTEGER, warn_at: null },
    { type: "run.cancel_requested", reason: "too long", key: null, code: "DEADLINE" },
  ],
  aHoldExpiresNoSooner: (events) => [
    ...events.slice(0, -1),
    { type: "job.held", job: 1, code: "X", message: "", due_at: Number.MAX_SAFE_INTEGER, due_action: "skip" },
    {
      type: "hold.resolved",
      job: 1,
      action: "skip",
      reason: "",
      key: null,
      expired: true,
      output: null,
      items: null,
    },
  ],
  theRunNeverStalls: (events) => [
    ...events.slice(0, -1),
    { type: "run.failed", code: "STALLED", message: "stuck", unhandled: [] },
  ],
  everyJobIsSettledAtTheEnd: (events) => [
    ...events.slice(0, indexOf(events, "attempt.succeeded", 1)),
    { type: "run.completed", handled: [] },
  ],
  aCompletedRunHasNoUnhandledFailure: (events) => [
    ...events.slice(0, -1),
    failure(events),
    { type: "run.completed", handled: [] },
  ],
  aFailedRunHasACause: (events) => [
    ...events.slice(0, -1),
    { type: "run.failed", code: "EXIT_1", message: "", unhandled: [] },
  ],
};

function edit(events: readonly Event[], type: Event["type"], nth: number, change: object): Event[] {
  return events.with(indexOf(events, type, nth), {
    ...events[indexOf(events, type, nth)]!,
    ...change,
  } as Event);
}

function repeat(events: readonly Event[], index: number): Event[] {
  return events.toSpliced(index, 0, events[index]!);
}

/** Steps have their jobs in file order. */
function jobOf(events: readonly Event[], step: string): number {
  const [first] = events.flatMap((event) => (event.type === "attempt.started" ? [event.job] : []));
  return first! + definition.steps.findIndex(({ id }) => id === step);
}

function failure(events: readonly Event[]): Event {
  return {
    type: "job.failed",
    job: jobOf(events, "after"),
    code: "EXIT_1",
    message: "",
    handled: null,
    part_of: null,
    routed: false,
  };
}

describe("the invariants", () => {
  it("hold for a run with every rung", async () => {
    expect(findViolations(logged(await goodLog()), definition)).toEqual([]);
  });

  it.each(Object.keys(TAMPERINGS))("%s notices a log that breaks it", async (name) => {
    const events = await goodLog();
    const tampered = logged(TAMPERINGS[name]!(events));
    expect(INVARIANTS[name]!(tampered, definition)).toEqual(expect.any(String));
  });

  it("notice gaps in the numbers and a clock that runs back", async () => {
    const log = logged(await goodLog());
    expect(INVARIANTS.sequenceNumbersHaveNoGaps!(log.toSpliced(3, 1), definition)).toEqual(
      expect.any(String),
    );
    expect(INVARIANTS.timeNeverRunsBack!(log.with(5, { ...log[5]!, at: 0 }), definition)).toEqual(
      expect.any(String),
    );
  });

  it("are all shown to notice something", () => {
    const elsewhere = [
      "handledImpliesACompletedHandler",
      ...Object.keys(ladder),
      ...Object.keys(heal),
      ...Object.keys(park),
      ...Object.keys(tree),
      ...Object.keys(undo),
      ...Object.keys(then),
    ];
    const shown = [
      ...Object.keys(TAMPERINGS),
      "sequenceNumbersHaveNoGaps",
      "timeNeverRunsBack",
      ...elsewhere,
    ];
    expect(Object.keys(INVARIANTS).toSorted()).toEqual(shown.toSorted());
  });
});
