import { describe, expect, it } from "vitest";
import { helperText } from "../../../src/tell/words/remedy-words.js";
import { decidedText, marksOf, percentText, piecesOf, sortHelpers, WINDOWS } from "./statistics.js";

const NOW = Date.parse("2026-03-10T13:05:00Z");
const [day, week] = WINDOWS;

describe("the statistics page", () => {
  it("has a piece for every hour or day, also where nothing ran", () => {
    const told = { at_once: 3, rescued: 1, handled: 0, held: 0, failed: 2, canceled: 9, active: 1 };
    const days = piecesOf([{ at: "2026-03-09T00:00:00.000Z", ...told }], week, NOW);
    expect(days.map(({ label }) => label)).toEqual([
      ..."4 Mar,5 Mar,6 Mar,7 Mar,8 Mar,9 Mar,10 Mar".split(","),
    ]);
    expect(days[5]!.parts).toMatchObject({ at_once: 3, rescued: 1, failed: 2 });
    expect(days[6]!.parts).toEqual({ at_once: 0, rescued: 0, handled: 0, held: 0, failed: 0 });
    const hours = piecesOf([], day, NOW);
    expect(hours).toHaveLength(24);
    expect([hours[0]!.label, hours[23]!.label]).toEqual(["14:00", "13:00"]);
  });

  it("says shares without false precision", () => {
    expect([percentText(0, 0), percentText(1, 30), percentText(2, 3), percentText(5, 5)]).toEqual([
      ..."0 %,3.3 %,67 %,100 %".split(","),
    ]);
  });

  it("says how long people took to decide, and what waits for them now", () => {
    const outcomes = { at_once: 0, rescued: 0, handled: 0, held: 0, failed: 0, canceled: 0, active: 0 };
    const none = { holds: 0, questions: 0, median_ms: null };
    const some = { holds: 26, questions: 2, median_ms: 840_000 };
    expect([
      decidedText({ decisions: none, outcomes }),
      decidedText({ decisions: none, outcomes: { ...outcomes, held: 2 } }),
      decidedText({ decisions: some, outcomes }),
      decidedText({ decisions: some, outcomes: { ...outcomes, held: 1 } }),
    ]).toEqual([
      "nothing waited for a decision",
      "2 waiting now",
      "28 decided, median wait 14 min 00 s",
      "28 decided, median wait 14 min 00 s, 1 waiting now",
    ]);
  });

  it("draws which rungs acted on a failure, and a person's decision where the hold stands", () => {
    const drawn = marksOf([{ by: "retry" }, { by: "operator.skip" }])
      .filter(({ mark }) => mark !== "unreached")
      .map(({ rung, mark }) => [rung, mark]);
    expect(drawn).toEqual([
      ["retry", "acted"],
      ["hold", "hold"],
    ]);
  });

  it("lists what helped in the order of the ladder, people last", () => {
    const by = (...names: string[]) => names.map((name) => ({ by: name, rescued: 1, not_rescued: 0 }));
    expect(sortHelpers(by("operator.retry", "goto", "retry"), ["retry", "goto"])).toEqual(
      by("retry", "goto", "operator.retry"),
    );
    expect(helperText("operator.hard_reset")).toBe("by hand: hard reset");
    expect(helperText("retry")).toBe("retry");
  });
});
