import { describe, expect, it, test } from "vitest";
import { trial } from "../support/harness.js";
import type { Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";
import { trace } from "../support/trace.js";

const SILENT: Outcome = { facts: { timeout: "idle", message: "printed nothing for 500 ms" } };
const asked = (retries: number): string =>
  `steps: { ask: { exec: x, idle_timeout_ms: 500, on_fail: { retry: { max: ${retries} } } } }`;

describe("an attempt that falls silent", () => {
  it("is transient the first time in a visit, and stuck from the second on", async () => {
    const run = await trial(asked(3), { ask: [SILENT, { exit: 1 }, SILENT, SILENT] });
    expect(trace(run)).toEqual([
      ...["start ask", "fail ask IDLE_TIMEOUT", "climb ask retry", "retry ask 1/3 +0"],
      ...["start ask", "fail ask EXIT_1", "climb ask retry", "retry ask 2/3 +0"],
      ...["start ask", "fail ask IDLE_TIMEOUT", "climb ask retry", "retry ask 3/3 +0"],
      ...["start ask", "fail ask IDLE_TIMEOUT", "climb ask fail", "failed ask IDLE_TIMEOUT"],
      "run failed IDLE_TIMEOUT",
    ]);
    expect(run.events("attempt.failed").map(({ error }) => [error.class, error.original_class])).toEqual([
      ["transient_runtime", null],
      ["application", null],
      ["stuck_no_progress", "transient_runtime"],
      ["stuck_no_progress", "transient_runtime"],
    ]);
    // The book knows it as one failure, whatever class it was given.
    const [first, , third] = run.events("attempt.failed");
    expect(third!.error.signature).toBe(first!.error.signature);
  });

  it("is transient again in a new visit", async () => {
    const run = await trial(
      "steps:\n  plan: { exec: x }\n  ask: { exec: x, depends_on: [plan], idle_timeout_ms: 500, on_fail: { goto: { step: plan, max: 1 } } }",
      { ask: [SILENT, SILENT] },
    );
    expect(run.order).toEqual(["plan", "ask", "plan", "ask"]);
    expect(run.events("attempt.failed").map(({ error }) => error.class)).toEqual([
      ...["transient_runtime", "transient_runtime"],
    ]);
  });
});

describe("a breaker", () => {
  const breaker = (classes: string): string =>
    `breakers: { api: { failures: 1, probe_every: 2m${classes} } }
steps: { ask: { exec: x, uses: [api], on_fail: { retry: { max: 1 } } } }`;

  test.each([
    ["does not count silence, whose class it watches", "", ["retry"], [0, 0]],
    [
      "counts silence where its code is named",
      ", classes: [IDLE_TIMEOUT]",
      ["retry", "park"],
      [0, 120_000, 240_000],
    ],
  ])("%s", async (_, classes, rungs, times) => {
    const stage = await Stage.begin(breaker(classes), {
      ask: classes === "" ? [SILENT, "ok"] : [SILENT, SILENT, "ok"],
    });
    const run = await stage.rest();
    expect(run.run.status).toBe("completed");
    expect(run.events("ladder.climbed").map(({ rung }) => rung)).toEqual(rungs);
    expect(run.times).toEqual(times);
  });
});
