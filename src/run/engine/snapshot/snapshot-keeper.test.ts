import { describe, expect, it } from "vitest";
import type { RunHost } from "../run-host.js";
import { SnapshotKeeper } from "./snapshots.js";

const JOBS = 100_000;

/** Whether one is made after so many events of a run with so many jobs. */
function isDue(lastSeq: number, jobs = JOBS): boolean {
  const host = { run: { jobs: { length: jobs } }, lastSeq, snapshotSeq: 0, isOver: false };
  new SnapshotKeeper({ putSnapshot: async () => {} }).take(host as unknown as RunHost);
  return host.snapshotSeq === lastSeq;
}

describe("a snapshot", () => {
  it("is not made of a wide run whose jobs only start and complete, not even just before its end", () => {
    expect([isDue(2 * JOBS), isDue(2 * JOBS + 5)]).toEqual([false, false]);
  });

  it("is made once in three events for each job, and at least 20,000", () => {
    expect([isDue(3 * JOBS - 1), isDue(3 * JOBS)]).toEqual([false, true]);
    expect([isDue(19_999, 10), isDue(20_000, 10)]).toEqual([false, true]);
  });
});
