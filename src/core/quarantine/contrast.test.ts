import { describe, expect, it } from "vitest";
import { blamesWorker, Contrast } from "./quarantine.js";

const failure = (job: number, visit = 1, attempt = 1) => ({
  ...{ run: 1, job, visit, attempt },
  step: `s${job}`,
  code: "EXIT_1",
});

/** Fails on `bad`, then completed by `good`. */
function contrast(found: Contrast, ...jobs: readonly number[]): void {
  for (const job of jobs) {
    found.failed("bad", failure(job));
    found.succeeded("good", "good/1", { job, visit: 1 });
  }
}

describe("a worker is found", () => {
  it("once three jobs failed on it that others completed, with these jobs", () => {
    const found = new Contrast();
    contrast(found, 1, 2);
    expect(found.found()).toEqual([]);
    contrast(found, 3);
    const jobs = [1, 2, 3].map((job) => ({
      ...{ run: 1, job, step: `s${job}`, attempt: 1, code: "EXIT_1" },
      completedOn: "good/1",
    }));
    expect(found.found()).toEqual([{ worker: "bad", jobs }]);
    found.clear("bad");
    expect(found.found()).toEqual([]);
  });

  it("by the server's own worker too", () => {
    const found = new Contrast();
    for (const job of [1, 2, 3]) {
      found.failed("bad", failure(job));
      found.succeeded(null, "local-1", { job, visit: 1 });
    }
    expect(found.found()).toHaveLength(1);
  });
});

describe("a worker is not found", () => {
  it("for one job that failed there three times, for another visit, or for what it completed itself", () => {
    const found = new Contrast();
    for (const attempt of [1, 2, 3]) found.failed("bad", failure(1, 1, attempt));
    found.succeeded("good", "good/1", { job: 1, visit: 1 });
    for (const job of [2, 3, 4]) {
      found.failed("bad", failure(job));
      found.succeeded("good", "good/1", { job, visit: 2 });
    }
    expect(found.found()).toEqual([]);
    contrast(found, 5);
    found.succeeded("bad", "bad/1", { job: 6, visit: 1 });
    contrast(found, 7, 8);
    expect(found.found()).toEqual([]);
  });

  it("while all that failed did so before anything was completed elsewhere: the cause may have been everywhere", () => {
    const found = new Contrast();
    for (const job of [1, 2, 3]) found.failed("bad", failure(job));
    for (const job of [1, 2, 3]) found.succeeded("good", "good/1", { job, visit: 1 });
    expect(found.found()).toEqual([]);
    found.failed("bad", failure(4));
    expect(found.found()).toHaveLength(1);
  });

  it("for a job that failed on another worker too in that visit, be it the server's own, and neither is that one", () => {
    const found = new Contrast();
    for (const [job, other] of [
      [1, "other"],
      [2, null],
      [3, "other"],
      [4, "other"],
    ] as const) {
      found.failed("bad", failure(job));
      found.failed(other, failure(job));
      // The other one has forgotten its failure; the job has not.
      found.succeeded("other", "other/1", { job: 100 + job, visit: 1 });
      found.succeeded("good", "good/1", { job, visit: 1 });
    }
    contrast(found, 5, 6);
    expect(found.found()).toEqual([]);
    // In its next visit it is another matter.
    found.failed("bad", failure(1, 2));
    found.succeeded("good", "good/1", { job: 1, visit: 2 });
    expect(found.found().map(({ worker }) => worker)).toEqual(["bad"]);
  });

  it("for a job that nobody will complete", () => {
    const found = new Contrast();
    contrast(found, 1, 2);
    found.failed("bad", failure(3));
    found.forget(({ job }) => job === 3);
    found.succeeded("good", "good/1", { job: 3, visit: 1 });
    expect(found.found()).toEqual([]);
  });
});

it("a worker is suspect after three jobs in a row, whoever is to blame and whatever became of them", () => {
  const found = new Contrast();
  for (const job of [1, 1, 2]) found.failed("bad", failure(job));
  expect(found.isSuspect("bad")).toBe(false);
  found.failed("bad", failure(3));
  found.forget(() => true);
  expect(found.isSuspect("bad")).toBe(true);
  found.succeeded("bad", "bad/1", { job: 4, visit: 1 });
  expect(found.isSuspect("bad")).toBe(false);
});

it("failures with their machine, and those for want of memory or time, blame nobody", () => {
  expect(blamesWorker("infrastructure")).toBe(false);
  expect(blamesWorker("resource")).toBe(false);
  expect(blamesWorker("application")).toBe(true);
  expect(blamesWorker("deterministic_policy")).toBe(true);
});
