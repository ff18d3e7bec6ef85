import { describe, expect, it } from "vitest";
import type { AttemptResult } from "../../src/core/model/commands.js";
import type { Event } from "../../src/core/model/events.js";
import { processUsagesOf } from "../../src/report/process-usage.js";
import { Bench } from "./bench.js";

const USED = { peak_memory_bytes: 5_000_000, cpu_ms: 40 };
const ENDS: [string, AttemptResult][] = [
  [
    "attempt.succeeded",
    { kind: "succeeded", output: { kind: "value", value: null }, items: null } as AttemptResult,
  ],
  ["attempt.failed", { kind: "failed", facts: { message: "exit code 1", exitCode: 1 } }],
  ["attempt.stopped", { kind: "stopped" }],
];

function ended(result: AttemptResult, used?: typeof USED): Event {
  const bench = new Bench("steps: { a: { exec: make } }");
  bench.start("a");
  const { id } = bench.job("a");
  if (result.kind === "stopped") bench.take({ type: "run.cancel", reason: "", key: null });
  const finish = { type: "attempt.finish", job: id, attempt: 1, result, duration_ms: 7 } as const;
  return bench.take(used === undefined ? finish : { ...finish, used })[0]!;
}

describe.each(ENDS)("%s", (type, result) => {
  it("has the peak memory and the CPU time of the attempt's processes", () => {
    expect(ended(result, USED)).toMatchObject({ type, duration_ms: 7, ...USED });
  });

  it("has neither where the worker cannot tell", () => {
    const event = ended(result);
    expect(event).toMatchObject({ type, duration_ms: 7 });
    expect(Object.keys(event)).not.toContain("cpu_ms");
    expect(processUsagesOf([{ seq: 1, at: 0, event }]).size).toBe(0);
  });
});
