import { describe, expect, it } from "vitest";
import { withoutCode } from "../../words/moment.js";
import { runControlsOf } from "./control-words.js";
import type { RunSummary } from "./run-data.js";
import { runStanding } from "./run-standing.js";

const hold = { kind: "hold", dead_letter: false };
const question = { kind: "question", dead_letter: false };

function run(changes: object, counts: readonly string[] = [], holds: readonly object[] = []): RunSummary {
  return {
    ...{ status: "running", phase: null, interrupted: false, paused_by: null },
    ...{
      recoveries: [],
      handled_failures: [],
      handled_in_children: [],
      held_below: [],
      decided: [],
      live_control: { takeover: false },
    },
    ...{ summary: { counts, holds } },
    ...changes,
  } as unknown as RunSummary;
}
const told = (...given: Parameters<typeof run>): string => {
  const { face, words } = runStanding(run(...given));
  return `${face}: ${words}`;
};

describe("how a run stands", () => {
  it("is held by a child run that is, although its log says that it runs", () => {
    expect(told({ held_below: [{ run_id: 2 }] }, ["1 ready"], [hold])).toBe("held: Held");
  });

  it("says who finished what failed, and has not stood up by itself then", () => {
    const decided = [{ step: "train", scope: "root", how: "skip", by: "ann", expired: false }];
    expect(told({ status: "completed", decided, recoveries: [{}] })).toBe(
      "handled: Completed; train skipped by ann",
    );
  });

  it("names who stopped it", () => {
    expect(told({ status: "paused", paused_by: "ci" })).toBe("paused: Paused, by ci");
    const live_control = { takeover: true };
    expect(told({ status: "paused", paused_by: "ci", live_control })).toBe("paused: Taken over by ci");
    expect(told({ status: "paused", live_control })).toBe("paused: Taken over");
  });

  it("asks a question only where nothing else is at work", () => {
    expect(told({}, ["1 waiting", "1 blocked"], [question])).toBe("held: Asks a question");
    expect(told({}, ["1 running", "1 waiting"], [question])).toBe("running: Running, asks 1 question");
    expect(told({}, ["2 waiting"], [question])).toBe("held: Asks a question");
  });

  it("recovers while a rung acts, and is a dead letter where all that is held is one", () => {
    expect(told({}, ["1 waiting"])).toBe("running: Running, recovering");
    expect(told({}, ["1 recovering"])).toBe("running: Running, recovering");
    expect(told({}, ["1 running"], [hold])).toBe("running: Running, 1 held");
    expect(told({ status: "held" }, [], [{ ...hold, dead_letter: true }])).toBe("held: Held, dead letter");
    expect(told({ status: "held" }, [], [hold, { ...hold, dead_letter: true }])).toBe("held: Held");
  });

  it("is amber, not green, where a failure was handled, be it in a child run", () => {
    const handled_failures = [{ step: "test" }];
    expect(runStanding(run({ status: "completed", handled_failures }))).toEqual({
      face: "handled",
      words: "Completed, 1 failure handled",
      tone: "gold",
    });
    const handled_in_children = [{ run_id: 2, failures: 2 }];
    expect(told({ status: "completed", handled_in_children })).toBe("handled: Completed, 2 failures handled");
    expect(runStanding(run({ status: "completed" })).tone).toBe("ok");
  });

  it("says what it is at before it ends", () => {
    expect(told({ phase: "finally" })).toBe("running: Running, at its finally steps");
  });
});

describe("the controls of a run", () => {
  const labels = (changes: object) => runControlsOf(run(changes)).map(({ label }) => label);
  it("have what undoes them in their place", () => {
    expect(labels({}).slice(0, 2)).toEqual(["Pause", "Take over"]);
    expect(labels({ status: "paused" }).slice(0, 2)).toEqual(["Resume", "Take over"]);
    expect(labels({ interrupted: true })[0]).toBe("Resume");
    expect(labels({ status: "paused", live_control: { takeover: true } }).slice(0, 2)).toEqual([
      "Pause",
      "Hand back",
    ]);
  });
});

it("a code that stands beside a reason is not said again", () => {
  expect(withoutCode("EXIT_1: retry 1 of 3", "EXIT_1")).toBe("retry 1 of 3");
  expect(withoutCode("EXIT_1 (stuck_no_progress): requeue 1 of 2", "EXIT_1")).toBe("requeue 1 of 2");
  expect(withoutCode("nothing else handles this failure", "EXIT_1")).toBe(
    "nothing else handles this failure",
  );
});
