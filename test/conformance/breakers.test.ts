import { describe, expect, test } from "vitest";
import type { Outcome } from "../support/scripted-worker.js";
import { Stage } from "../support/stage.js";

const DOWN: Outcome = { facts: { httpStatus: 503, message: "HTTP status 503" } };
const BAD: Outcome = { facts: { httpStatus: 400, message: "HTTP status 400" } };
const MINUTE = 60_000;

/** Of the log: what the rung and its breakers did. */
function told(log: readonly { readonly event: { readonly type: string } }[]): string[] {
  return log.flatMap(({ event }) => {
    const each = event as never as { type: string; rung?: string; because?: string; reason?: string };
    if (each.type === "ladder.climbed") return [`${each.rung}`];
    if (each.type === "jobs.unparked") return [`unparked ${each.because}`];
    return each.type === "run.completed" || each.type === "run.failed" ? [each.type] : [];
  });
}

function file(steps: string, breaker = "", top = ""): string {
  return `
breakers: { api: { failures: 2, within: 10m, probe_every: 2m, max_open: 1h, release: 10/s${breaker} } }
${top}
steps:
${steps}`;
}

const CHARGE = file("  charge: { exec: x, uses: [api], on_fail: { retry: { max: 3 } } }");

describe("a step that uses an open breaker", () => {
  test("waits after the failures that opened it, is probed each interval, and goes on by the success of a probe", {
    tags: ["B8"],
  }, async () => {
    const stage = await Stage.begin(CHARGE, { charge: [DOWN, DOWN, DOWN, DOWN, "ok"] });
    const { order, times, log, run, job } = await stage.rest();
    expect(run.status).toBe("completed");
    expect(order).toEqual(["charge", "charge", "charge", "charge", "charge"]);
    // The third attempt is the first probe: it and the next park, the fifth attempt completes.
    expect(times).toEqual([0, 0, 2 * MINUTE, 4 * MINUTE, 6 * MINUTE]);
    expect(told(log)).toEqual([
      ...["retry", "retry", "park", "unparked probe", "park", "unparked probe", "run.completed"],
    ]);
    expect(job("charge").attempt_id).toBe(5);
  });

  test("pays no retry for attempts that park", { tags: ["B9"] }, async () => {
    const outcomes = [DOWN, DOWN, ...Array.from({ length: 9 }, () => DOWN), "ok" as const];
    const stage = await Stage.begin(CHARGE, { charge: outcomes });
    const trial = await stage.rest();
    expect(trial.run.status).toBe("completed");
    expect(trial.events("retry.scheduled").map(({ retry }) => retry)).toEqual([1, 2]);
    expect(trial.events("job.parked")).toHaveLength(9);
  });

  test("climbs on from rule when the breaker is spent, and its failures count again", {
    tags: ["B11"],
  }, async () => {
    const text = file(
      "  charge: { exec: x, uses: [api], on_fail: { retry: { max: 3 } } }",
      ", max_open: 5m",
    ).replace("max_open: 1h, ", "");
    const stage = await Stage.begin(text, { charge: [DOWN] });
    const { order, times, log, run } = await stage.rest();
    expect(run.status).toBe("failed");
    expect(told(log)).toEqual([
      ...[
        "retry",
        "retry",
        "park",
        "unparked probe",
        "park",
        "unparked spent",
        "retry",
        "fail",
        "run.failed",
      ],
    ]);
    expect(times).toEqual([0, 0, 2 * MINUTE, 4 * MINUTE, 5 * MINUTE]);
    expect(order).toHaveLength(5);
  });

  test("of another class climbs as ever, and leaves the breaker open", { tags: ["B8"] }, async () => {
    const steps = `  one: { exec: x, uses: [api], on_fail: { retry: { max: 9 } } }
  two: { exec: x, uses: [api] }`;
    const stage = await Stage.begin(file(steps), { one: [DOWN, DOWN, BAD], two: ["ok"] }, { capacity: 1 });
    const { order, times, log } = await stage.rest();
    expect(order).toEqual(["one", "two", "one", "one"]);
    expect(times).toEqual([0, 0, 0, 2 * MINUTE]);
    expect(told(log)).toEqual(["retry", "retry", "fail", "run.failed"]);
  });
});
