import { describe, expect, it } from "vitest";
import type { Event } from "../../src/core/model/events.js";
import type { Outcome } from "../../src/core/model/outcome.js";
import { processUsagesOf } from "../../src/tell/attempt-details.js";
import { Bench } from "./bench.js";

const USED = { peak_memory_bytes: 5_000_000, cpu_ms: 40 };
const ENDS: [string, Outcome][] = [
  ["attempt.succeeded", { kind: "succeeded", output: { kind: "value", value: null } }],
  ["attempt.failed", { kind: "failed", facts: { message: "exit code 1", exitCode: 1 } }],
  ["attempt.stopped", { kind: "stopped" }],
];

function ended(said: Outcome, used?: typeof USED): Event {
  const bench = new Bench("steps: { a: { exec: make } }");
  bench.start("a");
  const { id } = bench.job("a");
  if (said.kind === "stopped") bench.take({ type: "run.cancel", reason: "", key: null });
  const outcome: Outcome = { ...said, duration_ms: 7, ...(used === undefined ? {} : { used }) };
  return bench.take({ type: "attempt.finish", job: id, attempt: 1, outcome })[0]!;
}

describe.each(ENDS)("%s", (type, said) => {
  it("has the peak memory and the CPU time of the attempt's processes", () => {
    expect(ended(said, USED)).toMatchObject({ type, duration_ms: 7, ...USED });
  });

  it("has neither where the worker cannot tell", () => {
    const event = ended(said);
    expect(event).toMatchObject({ type, duration_ms: 7 });
    expect(Object.keys(event)).not.toContain("cpu_ms");
    expect(processUsagesOf([{ seq: 1, at: 0, event }]).size).toBe(0);
  });
});
