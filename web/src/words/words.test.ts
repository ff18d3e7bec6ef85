import { describe, expect, it } from "vitest";
import { LADDER } from "../../../src/core/decide/ladder/ladder.js";
import { RUNGS } from "../pages/step/rungs.js";
import { marksOf } from "../parts/marks.js";
import { addressOf, placeOf } from "../place.js";
import { linesOf } from "./log-lines.js";
import { problemsOf, runsOf } from "./problems.js";
import type { HoldItem } from "./status.js";

const hold = (run: number, change: Partial<HoldItem> = {}): HoldItem =>
  ({
    id: run * 10 + 1,
    run_id: run,
    workflow: "etl",
    step: "load",
    kind: "hold",
    dead_letter: false,
    error: { signature: "v1:a" },
    since: `2026-01-01T00:00:0${run}.000Z`,
    ...change,
  }) as HoldItem;

it("the page's ladder is the engine's", () => {
  expect(RUNGS).toEqual(LADDER.map(({ name }) => name));
});

describe("problems", () => {
  it("are one for all runs with the same cause, the most runs first", () => {
    const found = problemsOf([hold(1), hold(2, { error: { signature: "v1:b" } as never }), hold(3)]);
    expect(found.map((problem) => runsOf(problem))).toEqual([[3, 1], [2]]);
    expect(found[0]).toMatchObject({
      firstAt: "2026-01-01T00:00:01.000Z",
      lastAt: "2026-01-01T00:00:03.000Z",
    });
  });

  it("of another step, workflow or kind are others, and each question is one of its own", () => {
    const others = [
      hold(1),
      hold(2, { step: "save" }),
      hold(3, { workflow: "other" }),
      hold(4, { dead_letter: true }),
      hold(5, { kind: "question", error: null }),
      hold(6, { kind: "question", error: null }),
    ];
    expect(problemsOf(others)).toHaveLength(6);
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
