import { describe, expect, it } from "vitest";
import { judged } from "../../../../test/support/error-record.js";
import { type EndedAttempt, verdictOf } from "../../desk/pool-allocations.js";

const NEIGHBOUR: EndedAttempt = {
  hadAllocation: false,
  wasAlone: false,
  elapsedMs: 10_000,
  runtimeMs: 60_000,
};

function verdict(code: string, changes: Partial<EndedAttempt> = {}) {
  const facts = verdictOf({ code, message: `it ended: ${code}` } as never, { ...NEIGHBOUR, ...changes });
  const { code: found, class: kind, exit_code, message } = judged(facts);
  return [found, kind, exit_code, message];
}

describe("an attempt whose allocation ends", () => {
  it.each(["WALLTIME", "OOM", "NODE_LOST", "PREEMPTED", "REQUEUED", "CANCELED", "LAUNCH_FAILED", "VANISHED"])(
    "with %s is lost where it stayed within its own limits",
    (code) => {
      expect(verdict(code)).toEqual(["WORKER_LOST", "infrastructure", null, `it ended: ${code}`]);
    },
  );

  it("out of memory has failed with OOM where nobody else was there, or the allocation was its own", () => {
    const oom = ["OOM", "resource", 137, "it ended: OOM"];
    expect(verdict("OOM", { wasAlone: true })).toEqual(oom);
    expect(verdict("OOM", { hadAllocation: true })).toEqual(oom);
  });

  it("at its time limit has failed with WALLTIME where it passed its own runtime, or the allocation was its own", () => {
    const late = ["WALLTIME", "resource", 152, "it ended: WALLTIME"];
    expect(verdict("WALLTIME", { elapsedMs: 60_000 })).toEqual(late);
    expect(verdict("WALLTIME", { hadAllocation: true, runtimeMs: null })).toEqual(late);
    expect(verdict("WALLTIME", { elapsedMs: 59_999 })[0]).toBe("WORKER_LOST");
    expect(verdict("WALLTIME", { elapsedMs: 60_000, runtimeMs: null })[0]).toBe("WORKER_LOST");
  });

  it("canceled by others has failed for good where the allocation was its own", () => {
    expect(verdict("CANCELED", { hadAllocation: true })).toEqual([
      "ALLOCATION_CANCELED",
      "deterministic_policy",
      null,
      "it ended: CANCELED",
    ]);
  });
});
