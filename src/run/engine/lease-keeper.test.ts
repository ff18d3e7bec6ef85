import { describe, expect, it } from "vitest";
import { ManualClock } from "../../../test/support/manual-clock.js";
import { DarumaError } from "../../core/errors/errors.js";
import { createMemoryStore } from "../../store/memory/memory-store.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import { LeaseKeeper } from "./lease-keeper.js";

const LEASE_MS = 30_000;
const OWNER: LeaseOwner = { host: "here", bootId: "b", pid: 1, processStart: "s", engine: "one" };
const OTHER: LeaseOwner = { ...OWNER, host: "there", engine: "two" };

/** Lets promises that are settled go on. */
async function settle(): Promise<void> {
  for (let turn = 0; turn < 20; turn += 1) await Promise.resolve();
}

async function pass(clock: ManualClock, ms: number): Promise<void> {
  for (let passed = 0; passed < ms; passed += 500) {
    clock.advance(500);
    await settle();
  }
}

async function keeperOf(runs: number, change: (store: Store) => Partial<Store>) {
  const clock = new ManualClock();
  const memory = createMemoryStore();
  const store: Store = { ...memory, ...change(memory) };
  const keeper = new LeaseKeeper(store, clock, OWNER, () => false, LEASE_MS);
  const startedAt = clock.now();
  const lost: { run: number; atMs: number; code: unknown }[] = [];
  for (let run = 1; run <= runs; run += 1)
    await keeper.acquire(run, (error) =>
      lost.push({ run, atMs: clock.now() - startedAt, code: (error as { code?: unknown }).code }),
    );
  return { clock, keeper, lost, memory };
}

describe("leases", () => {
  it("are renewed all at once, for as long as the engine likes", async () => {
    let renewals = 0;
    const { clock, lost, memory } = await keeperOf(20, (store) => ({
      renewLeases: async (leases, now, expiresAt) => {
        renewals += 1;
        return store.renewLeases(leases, now, expiresAt);
      },
    }));
    await pass(clock, 10 * LEASE_MS);
    expect(lost).toEqual([]);
    expect(renewals).toBeLessThanOrEqual(30);
    expect((await memory.readLease(20))?.expiresAt).toBeGreaterThan(clock.now());
  });

  it("are given up before they run out where the store never answers", async () => {
    const { clock, lost } = await keeperOf(20, () => ({ renewLeases: () => new Promise(() => {}) }));
    await pass(clock, 2 * LEASE_MS);
    expect(lost).toHaveLength(20);
    for (const { atMs, code } of lost) {
      expect(atMs).toBeLessThan(LEASE_MS);
      expect(code).toBe("STORE_FAILED");
    }
  });

  it.each(["STORE_GONE", "STORE_DAMAGED"] as const)(
    "are given up at the first renewal that ends in %s: no waiting mends it",
    async (code) => {
      const refuse = () => Promise.reject(new DarumaError(code, "no more"));
      const { clock, lost } = await keeperOf(2, () => ({ renewLeases: refuse }));
      await pass(clock, LEASE_MS / 3);
      expect(lost).toEqual([
        { run: 1, atMs: LEASE_MS / 3, code },
        { run: 2, atMs: LEASE_MS / 3, code },
      ]);
    },
  );

  it("outlive a store that fails for a moment", async () => {
    let failures = 1;
    const { clock, lost } = await keeperOf(2, (store) => ({
      renewLeases: async (leases, now, expiresAt) => {
        if (failures-- > 0) throw new Error("connection reset");
        return store.renewLeases(leases, now, expiresAt);
      },
    }));
    await pass(clock, 3 * LEASE_MS);
    expect(lost).toEqual([]);
  });

  it("that another engine has taken are told as such, and only those", async () => {
    const { clock, lost, memory } = await keeperOf(2, () => ({}));
    const now = clock.now();
    await memory.acquireLease({ runId: 2, owner: OTHER, now: now + LEASE_MS, expiresAt: now + 9 * LEASE_MS });
    await pass(clock, LEASE_MS);
    expect(lost).toMatchObject([{ run: 2, code: "LEASE_LOST" }]);
  });

  it("come back to a process that was stopped past their end, if nobody has taken them", async () => {
    const { clock, lost } = await keeperOf(3, () => ({}));
    clock.standStill(5 * LEASE_MS);
    await settle();
    await pass(clock, 2 * LEASE_MS);
    expect(lost).toEqual([]);
  });
});

describe("a run that another process has only for a decision", () => {
  async function decided() {
    const { clock, keeper, memory } = await keeperOf(0, () => ({}));
    const lease = { owner: { ...OTHER, decides: true } as const, now: clock.now() };
    const held = await memory.acquireLease({ ...lease, runId: 1, expiresAt: clock.now() + LEASE_MS });
    if (!held.granted) throw new Error("the run is owned");
    const outcome: unknown[] = [];
    keeper
      .acquire(1, () => {})
      .then(
        (fence) => outcome.push(fence),
        (error: DarumaError) => outcome.push(error.code),
      );
    await pass(clock, 1_000);
    return { clock, memory, fence: held.fence, outcome };
  }

  it("is waited for, and had once the decision is made", async () => {
    const { clock, memory, fence, outcome } = await decided();
    expect(outcome).toEqual([]);
    await memory.releaseLease(1, fence);
    await pass(clock, 1_000);
    expect(outcome).toEqual([fence + 1]);
  });

  it("is refused where the decision does not come to an end", async () => {
    const { clock, outcome } = await decided();
    await pass(clock, 15_000);
    expect(outcome).toEqual(["RUN_OWNED"]);
  });
});
