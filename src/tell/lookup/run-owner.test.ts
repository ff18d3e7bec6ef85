import { beforeEach, describe, expect, it } from "vitest";
import { appendTo, newWorkflow, runRow } from "../../../test/contract/store-fixtures.js";
import type { RunRow } from "../../core/model/rows.js";
import { listRunReports } from "../../operations/runs/list-runs.js";
import { currentOwner } from "../../store/lease-owner.js";
import { createMemoryStore, type MemoryStore } from "../../store/memory/memory-store.js";
import type { LeaseOwner } from "../../store/store.js";
import { interruptedRuns } from "./run-owner.js";

const NOW = Date.now();
const LEASE_MS = 30_000;
const ALIVE = currentOwner("alive");
/** Its process id is that of this process, which began at another time. */
const DEAD: LeaseOwner = { ...ALIVE, processStart: "1", engine: "dead" };
const ELSEWHERE: LeaseOwner = { ...DEAD, host: "another-host" };

let store: MemoryStore;
let workflow_id: number;
beforeEach(async () => {
  store = createMemoryStore();
  workflow_id = (await store.registerWorkflow(newWorkflow())).workflowId;
});

/** A run whose lease was taken now; `owner` null: it was given back at once. */
async function runOf(owner: LeaseOwner | null, row: Partial<RunRow> = {}): Promise<number> {
  const runId = await store.reserveRunId();
  const request = { runId, owner: owner ?? ALIVE, now: NOW, expiresAt: NOW + LEASE_MS };
  const lease = await store.acquireLease(request);
  if (!lease.granted) throw new Error("the run is owned");
  const run = runRow(runId, { workflow_id, status: "running", ...row });
  await store.commit([appendTo({ runId, fence: lease.fence }, 1, { run })]);
  if (owner === null) await store.releaseLease(runId, lease.fence);
  return runId;
}

async function isInterrupted(runId: number, afterMs = 0): Promise<boolean> {
  const run = (await store.readRun(runId))!;
  return (await interruptedRuns(store, [run], NOW + afterMs)).has(runId);
}

describe("a run of this machine", () => {
  it("is not interrupted while its process lives", async () => {
    expect(await isInterrupted(await runOf(ALIVE))).toBe(false);
  });

  it("is interrupted as soon as its process is gone, or has let go of it", async () => {
    expect(await isInterrupted(await runOf(DEAD))).toBe(true);
    expect(await isInterrupted(await runOf(null))).toBe(true);
  });

  it("of another host is interrupted when its lease has run out, not before", async () => {
    const runId = await runOf(ELSEWHERE);
    expect(await isInterrupted(runId, LEASE_MS - 1)).toBe(false);
    expect(await isInterrupted(runId, LEASE_MS)).toBe(true);
  });

  it.each(["pending", "paused", "held", "completed", "failed", "canceled"] as const)(
    "that is %s is never interrupted: it wants no engine, or has not had its turn",
    async (status) => {
      expect(await isInterrupted(await runOf(null, { status }), 2 * LEASE_MS)).toBe(false);
    },
  );
});

describe("a run that servers go on with", () => {
  it.each([
    ["whose server died", DEAD],
    ["that its server gave back", null],
  ] as const)("%s is interrupted when nobody has had it for a lease", async (_, owner) => {
    const runId = await runOf(owner, { managed: true, wanted: true });
    expect(await isInterrupted(runId, LEASE_MS - 1)).toBe(false);
    expect(await isInterrupted(runId, LEASE_MS)).toBe(true);
  });
});

describe("a child run", () => {
  it("that nobody runs is kept by whoever has its parent", async () => {
    const parent = { run_id: await runOf(ALIVE), job_id: 10_000_001 };
    expect(await isInterrupted(await runOf(null, { parent }))).toBe(false);
  });

  it("is interrupted with its parent, and when its parent is gone", async () => {
    const parent = { run_id: await runOf(DEAD), job_id: 10_000_001 };
    expect(await isInterrupted(await runOf(DEAD, { parent }))).toBe(true);
    expect(await isInterrupted(await runOf(DEAD, { parent: { run_id: 999, job_id: 1 } }))).toBe(true);
  });

  it("of a server's run waits for the next server as its parent does", async () => {
    const parent = { run_id: await runOf(DEAD, { managed: true }), job_id: 10_000_001 };
    const child = await runOf(DEAD, { parent });
    expect(await isInterrupted(child, LEASE_MS - 1)).toBe(false);
    expect(await isInterrupted(child, LEASE_MS)).toBe(true);
  });
});

describe("a list of runs", () => {
  it("says of each whether it is interrupted, and beside that what its log says", async () => {
    const [gone, alive, over] = [
      await runOf(DEAD),
      await runOf(ALIVE),
      await runOf(null, { status: "failed" }),
    ];
    const { items } = await listRunReports(store, { limit: 10, interrupted: false }, Date.now());
    expect(items.map(({ run_id, status, interrupted }) => [run_id, status, interrupted])).toEqual([
      [over, "failed", false],
      [alive, "running", false],
      [gone, "running", true],
    ]);
  });

  it("of the interrupted ones alone has pages as any other", async () => {
    const gone: number[] = [];
    for (let n = 0; n < 5; n += 1) {
      gone.unshift(await runOf(DEAD));
      await runOf(ALIVE);
    }
    const first = await listRunReports(store, { limit: 3, interrupted: true }, Date.now());
    expect(first.items.map(({ run_id }) => run_id)).toEqual(gone.slice(0, 3));
    expect(first.next).toBe(gone[2]);
    const rest = await listRunReports(
      store,
      { limit: 3, interrupted: true, before: first.next! },
      Date.now(),
    );
    expect(rest).toMatchObject({ items: [{ run_id: gone[3] }, { run_id: gone[4] }], next: null });
  });
});
