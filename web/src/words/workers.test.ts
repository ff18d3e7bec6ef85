import { describe, expect, it } from "vitest";
import {
  type AllocationItem,
  type Allocations,
  allocationState,
  type BreakerItem,
  breakerState,
  isOverdue,
  nodesText,
  remedyText,
  type WaitingItem,
  type WorkerItem,
  whyNotDrain,
  workerState,
} from "./workers.js";

const NOW = Date.parse("2026-03-10T12:00:00Z");
const HEALTHY = { name: "gpu-1", state: "healthy", until: null, jobs: [] };
const worker = (changes: object) =>
  ({
    ...{
      connected: true,
      draining: false,
      leaves_at: null,
      last_seen_at: "2026-03-10T11:59:58Z",
      health: HEALTHY,
    },
    ...changes,
  }) as unknown as WorkerItem;
const allocation = (changes: object) =>
  ({
    ...{ state: "running", cancel: null, reason: "3 ready jobs", end: null, runtime_ms: 3_600_000 },
    ...{ started_at: "2026-03-10T11:00:00Z" },
    ...changes,
  }) as unknown as AllocationItem;

describe("the state of a worker in words", () => {
  it("is silent once its sign of life is overdue", () => {
    expect(isOverdue(worker({}), NOW)).toBe(false);
    const silent = worker({ last_seen_at: "2026-03-10T11:59:00Z" });
    expect([isOverdue(silent, NOW), workerState(silent, NOW).words]).toEqual([true, "silent"]);
  });

  it("says why it is in quarantine and until when", () => {
    const jobs = [{ completed_on: "b" }, { completed_on: "b" }, { completed_on: "c" }];
    const health = { ...HEALTHY, state: "quarantined", until: "2026-03-10T12:10:00Z", jobs };
    expect(workerState(worker({ health }), NOW)).toEqual({
      words: "quarantined",
      tone: "bad",
      more: "3 jobs failed on it that b, c completed. It gets nothing new until 12:10:00 UTC.",
    });
  });

  it.each([
    [{}, "healthy"],
    [{ draining: true }, "draining"],
    [{ last_seen_at: "2026-03-10T11:59:00Z" }, "silent"],
    [{ connected: false, last_seen_at: null }, "not connected"],
    [{ health: { ...HEALTHY, state: "probation" } }, "on probation"],
  ])("of %j is %s", (changes, words) => {
    expect(workerState(worker(changes), NOW).words).toBe(words);
  });
});

describe("the state of an allocation in words", () => {
  it.each([
    [{}, "Its worker is here. It ends at 12:00:00 UTC at the latest, after 1 h 00 min."],
    [{ state: "pending" }, "The scheduler has it and has not started it. For 3 ready jobs."],
    [{ state: "running", cancel: "drain" }, "It ends after what it runs."],
    [{ state: "ended", end: { code: "NODE_FAIL", message: "node7 failed" } }, "node7 failed (NODE_FAIL)"],
  ])("of %j", (changes, more) => {
    expect(allocationState(allocation(changes)).more).toBe(more);
  });

  it("names a few nodes and counts the others, and drains only once", () => {
    const nodes = ["n1", "n2", "n3", "n4", "n5"];
    expect(nodesText({ nodes: [], num_nodes: 2 })).toBe("2 nodes");
    expect(nodesText({ nodes: nodes.slice(0, 3), num_nodes: 3 })).toBe("n1, n2, n3");
    expect(nodesText({ nodes, num_nodes: 5 })).toBe("n1, n2, n3 and 2 more");
    expect(whyNotDrain({ cancel: null })).toBeNull();
    expect(whyNotDrain({ cancel: "drain" })).toBe("It is being drained already");
    expect(whyNotDrain({ cancel: "now" })).toBe("It is being canceled");
  });
});

describe("the state of a breaker in words", () => {
  const breaker = (changes: object) =>
    ({
      state: "open",
      since: "2026-03-10T11:00:00Z",
      reason: "5 failures",
      by: null,
      next_probe_at: null,
      ...changes,
    }) as unknown as BreakerItem;

  it("says who opened it, why, and what is next", () => {
    expect(breakerState(breaker({ by: "ana" })).more).toBe(
      "Since 11:00:00 UTC by ana: 5 failures. It stays open until somebody closes it.",
    );
    expect(breakerState(breaker({ next_probe_at: "2026-03-10T11:01:00Z" })).more).toBe(
      "Since 11:00:00 UTC: 5 failures. The next try is at 11:01:00 UTC.",
    );
    expect(breakerState(breaker({ state: "closed" }))).toEqual({ words: "closed", tone: "ok", more: "" });
  });
});

describe("what is done about jobs that wait", () => {
  const waits = (kind: string) => ({ kind }) as unknown as WaitingItem;
  const told = (items: object[], suspended: object[] = []) =>
    ({ items, suspended }) as unknown as Allocations;

  it("names allocations on the way before anything else", () => {
    expect(remedyText(waits("worker"), told([allocation({ state: "pending" })]))).toBe(
      "1 allocation is on the way.",
    );
    expect(remedyText(waits("worker"), told([allocation({})], [{}]))).toBe(
      "Nothing is asked for: a cluster is suspended.",
    );
    expect(remedyText(waits("slot"), told([]))).toBe("Places become free as other attempts end.");
    expect(remedyText(waits("worker"), told([]))).toBe("Start such a worker: daruma worker --help says how.");
  });
});
