import { describe, expect, it } from "vitest";
import type { Script } from "../../test/support/scripted-worker.js";
import { Stage } from "../../test/support/stage.js";
import { collectStatistics, outcomeOf, type Statistics, statisticsOf } from "./statistics.js";

const DAY_MS = 86_400_000;

async function statsOf(file: string, script: Script): Promise<Statistics> {
  const stage = await Stage.begin(file, script);
  await stage.rest();
  return collectStatistics(stage.store, { bucketMs: DAY_MS });
}

describe("the statistics of runs", () => {
  it("counts the attempts of each completion by itself: a goto is no failed try of its target", {
    tags: ["W38"],
  }, async () => {
    const file = `
steps:
  a: { type: noop }
  b: { type: noop, depends_on: [a], on_fail: { goto: a } }
`;
    const stats = await statsOf(file, { b: ["fail", "ok"] });
    // a completes twice at its first try, b at its second.
    expect(stats).toMatchObject({ attempts: 4, retries: 0, attempts_until_success: 4 / 3 });
    expect(stats.rungs).toEqual([{ by: "goto", rescued: 1, not_rescued: 0 }]);
  });

  it("keeps time spent running apart from time lost and from time spent waiting for a retry", {
    tags: ["W37"],
  }, async () => {
    const file =
      "name: w\nsteps: { a: { type: noop, on_fail: { retry: { max: 2, backoff: { mode: linear, delay_ms: 1000 } } } } }";
    const stats = await statsOf(file, {
      a: [
        { exit: 1, takesMs: 30 },
        { exit: 1, takesMs: 30 },
        { output: 1, takesMs: 40 },
      ],
    });
    const cost = {
      attempts: 3,
      running_ms: 100,
      lost_ms: 60,
      retry_waiting_ms: 3_000,
      attempts_until_success: 3,
    };
    expect(stats).toMatchObject({ ...cost, retries: 2, outcomes: { rescued: 1, at_once: 0 } });
    expect(stats.by_workflow).toEqual([{ workflow: "w", runs: 1, ...cost }]);
    expect(stats.by_worker).toMatchObject([{ attempts: 3, failed: 2, lost: 0, running_ms: 100 }]);
    expect(stats.over_time).toMatchObject([{ rescued: 1, failed: 0 }]);
    expect(stats.over_time[0]!.at % DAY_MS).toBe(0);
  });

  it("credits what rescued a job, and counts against a rung what it did not help", async () => {
    const on_fail = "on_fail: { retry: { max: 1 }, run: [fix] }";
    const file = `
steps:
  a: { type: noop, ${on_fail} }
  b: { type: noop, ${on_fail}, depends_on: [a] }
  fix: { type: noop }
`;
    const stats = await statsOf(file, { a: ["fail", "fail", "ok"], b: ["fail", "fail", "fail"] });
    expect(stats.outcomes).toMatchObject({ failed: 1 });
    expect(stats.rungs).toEqual([
      { by: "remediate", rescued: 1, not_rescued: 1 },
      { by: "retry", rescued: 0, not_rescued: 2 },
    ]);
  });

  it.each([
    ["completed", false, false, "at_once"],
    ["completed", true, false, "rescued"],
    ["completed", true, true, "handled"],
    ["held", true, false, "held"],
    ["failed", true, false, "failed"],
    ["canceled", false, false, "canceled"],
    ["paused", true, false, "active"],
    ["running", false, false, "active"],
  ] as const)("a run that is %s, fell: %s, handled: %s, is %s", (status, fell, handled, outcome) => {
    expect(outcomeOf({ status, fell, handled, decided: false })).toBe(outcome);
  });

  it("a run of which somebody finished a failed job by hand was not rescued", () => {
    expect(outcomeOf({ status: "completed", fell: true, handled: false, decided: true })).toBe("handled");
  });

  it.each([
    [[[40, 1]], 40],
    [
      [
        [40, 1],
        [10, 1],
      ],
      25,
    ],
    [
      [
        [900, 1],
        [10, 3],
        [30, 1],
      ],
      10,
    ],
    [
      [
        [5, 2],
        [100, 2],
      ],
      53,
    ],
  ] as const)("has the median of the decisions %j: %d ms", (rows, median_ms) => {
    const none = { runs: [], attempts: [], failures: [], ends: [], usage: [], scripts: [] };
    const decisions = rows.map(([after_ms, count], n) => ({
      kind: n === 0 ? ("question" as const) : ("hold" as const),
      after_ms,
      decisions: count,
    }));
    expect(statisticsOf({ ...none, decisions }, DAY_MS, () => "").decisions).toMatchObject({
      questions: rows[0][1],
      median_ms,
    });
  });

  it("has rates of zero, not of nothing by nothing, where nothing ran", () => {
    const none = { runs: [], attempts: [], failures: [], ends: [], usage: [], scripts: [], decisions: [] };
    expect(statisticsOf(none, DAY_MS, () => "")).toMatchObject({
      runs: 0,
      retry_rate: 0,
      attempts_until_success: null,
      over_time: [],
      decisions: { holds: 0, questions: 0, median_ms: null },
      recovery_scripts: { run: 0, failed: 0 },
    });
  });
});
