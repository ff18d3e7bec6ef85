import { describe, expect, it } from "vitest";
import { LADDER } from "../../../src/core/decide/ladder/ladder.js";
import { marksOf } from "../../../src/tell/words/rung-marks.js";
import { RUNGS } from "../pages/step/rungs.js";
import { addressOf, placeOf } from "../place.js";
import { blocksOf, extentOf, layersOf, linesOf, nextAfter, seenText, settleOrder } from "./problems.js";

it("the page's ladder is the engine's", () => {
  expect(RUNGS).toEqual(LADDER.map(({ name }) => name));
});

describe("problems", () => {
  it("say in how many runs and items they are, and what they block", () => {
    expect(extentOf({ runs: 7, jobs: 7 })).toBe("7 runs");
    expect(extentOf({ runs: 1, jobs: 12 })).toBe("1 run, 12 items");
    const blocks = { steps: 1, names: ["b"], layers: [1], of: 3 };
    expect(blocksOf({ kind: "hold", blocks })).toBe("blocks 1 step");
    expect(blocksOf({ kind: "failed", blocks: { ...blocks, steps: 2 } })).toBe("lost 2 steps");
    expect(blocksOf({ kind: "hold", blocks: { ...blocks, steps: 0 } })).toBe("");
  });

  it("tell when they were seen once where first and last are alike, and what they block layer by layer", () => {
    const [first_at, last_at] = ["2026-11-18T10:00:00.000Z", "2026-11-18T10:06:00.000Z"];
    const now = Date.parse("2026-11-18T10:11:00.000Z");
    expect(seenText({ first_at, last_at }, now)).toBe("first 11 min ago, last 5 min ago");
    expect(seenText({ first_at: last_at, last_at }, now)).toBe("5 min ago");
    expect(layersOf({ names: ["a", "b", "c"], layers: [1, 1, 3] })).toEqual([["a", "b"], ["c"]]);
  });

  it("keep their places while somebody points at them, and new ones are only counted", () => {
    const kept = new Set<string>();
    expect(settleOrder(["a", "b"], ["c", "b"], { frozen: true, kept })).toEqual({
      order: ["a", "b"],
      added: 1,
    });
    expect(settleOrder(["a", "b"], ["c", "b"], { frozen: false, kept })).toEqual({
      order: ["c", "b"],
      added: 0,
    });
    expect(settleOrder([], ["c"], { frozen: true, kept })).toEqual({ order: ["c"], added: 0 });
  });

  it("stay where they were for a moment after they were decided", () => {
    const kept = new Set(["b"]);
    expect(settleOrder(["a", "b", "c"], ["a", "c"], { frozen: false, kept }).order).toEqual(["a", "b", "c"]);
  });

  it("give way to the next one after a decision, unless somebody went elsewhere meanwhile", () => {
    const nextAt = (hash: string): string | null =>
      nextAfter(["b", "c"], ["a", "b", "c", "d"], placeOf(hash));
    expect(nextAt("#/inbox?problem=b")).toBe("d");
    expect(nextAt("#/inbox?problem=a")).toBeNull();
    expect(nextAt("#/inbox")).toBeNull();
    expect(nextAt("#/workflows")).toBeNull();
    expect(nextAfter(["a"], ["a", "b"], placeOf(""))).toBe("b");
    expect(nextAfter(["b"], ["a", "b"], placeOf("#/inbox?problem=b"))).toBeNull();
  });
});

describe("the strip of a ladder", () => {
  const considered = (rung: string, kind: string) => ({
    rung,
    kind,
    applied: kind === "applies",
    reason: kind,
  });

  it("sums up all climbs: what acted and how often, what was used up, not set, looked at, not reached", () => {
    const marks = marksOf(RUNGS, [
      [
        considered("stop", "does_not_concern"),
        considered("rule", "not_configured"),
        considered("retry", "applies"),
      ],
      [considered("stop", "does_not_concern"), considered("retry", "applies")],
      [
        considered("retry", "no_retries_left"),
        considered("reset", "no_resets_left"),
        considered("hold", "applies"),
      ],
    ]);
    expect(
      Object.fromEntries(marks.map(({ rung, mark, times }) => [rung, times > 1 ? `${mark} ${times}` : mark])),
    ).toEqual({
      stop: "no",
      restart: "unreached",
      park: "unreached",
      rule: "unset",
      retry: "acted 2",
      reset: "spent",
      remediate: "unreached",
      goto: "unreached",
      edge: "unreached",
      requeue: "unreached",
      hold: "hold",
      fail: "unreached",
    });
  });
});

describe("lines of a log", () => {
  it("are text: no terminal codes, no marks that turn their order, none longer than the page can show", () => {
    expect(linesOf("\u001b[31mred\u001b[0m\nabc\u202edef\nlast\n")).toEqual(["red", "abcdef", "last"]);
    expect(linesOf("x".repeat(1_000_000))[0]!.length).toBeLessThan(5_000);
    expect(linesOf("")).toEqual([]);
  });
});

describe("addresses", () => {
  it("come back as they went, whatever a step is called", () => {
    const address = addressOf(["runs", 12, "a/b c@list[2]?#%"], { attempt: "3", tab: null });
    expect(placeOf(address).path).toEqual(["runs", "12", "a/b c@list[2]?#%"]);
    expect([...placeOf(address).query]).toEqual([["attempt", "3"]]);
  });

  it.each(["", "#", "#/%E0%A4%A", "#//runs//"])("of nonsense are read all the same: %j", (hash) => {
    expect(placeOf(hash).path.length).toBeLessThanOrEqual(1);
  });
});
