import { describe, expect, test } from "vitest";
import type { LeaseOwner, LeaseRequest } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import { OWNER, RIVAL } from "./store-fixtures.js";

const RUN = 1;

export function leaseContract(under: StoreUnderTest): void {
  const acquire = (owner: LeaseOwner, now: number, more: Partial<LeaseRequest> = {}) =>
    under.store.acquireLease({ runId: RUN, owner, now, expiresAt: now + 10, ...more });

  takingLeases(under, acquire);
  keepingLeases(under, acquire);
}

type Acquire = (
  owner: LeaseOwner,
  now: number,
  more?: Partial<LeaseRequest>,
) => ReturnType<StoreUnderTest["store"]["acquireLease"]>;

function takingLeases(under: StoreUnderTest, acquire: Acquire): void {
  describe("a lease", () => {
    test("that is free is granted and can be read", async () => {
      expect(await acquire(OWNER, 100)).toEqual({ granted: true, fence: 1 });
      expect(await under.store.readLease(RUN)).toEqual({ owner: OWNER, fence: 1, expiresAt: 110 });
    });

    test("that is held is refused with its holder until the instant it expires", async () => {
      await acquire(OWNER, 100);
      const lease = { owner: OWNER, fence: 1, expiresAt: 110 };
      expect(await acquire(RIVAL, 109)).toEqual({ granted: false, lease });
      expect(await under.store.readLease(RUN)).toEqual(lease);
      expect(await acquire(RIVAL, 110)).toEqual({ granted: true, fence: 2 });
      expect(await under.store.readLease(RUN)).toEqual({ owner: RIVAL, fence: 2, expiresAt: 120 });
    });

    test("is granted anew to the owner that holds it, with a higher token", async () => {
      await acquire(OWNER, 100);
      expect(await acquire({ ...OWNER }, 101)).toEqual({ granted: true, fence: 2 });
    });

    test("is not shared by owners that differ in any part", async () => {
      await acquire(OWNER, 100);
      const others: LeaseOwner[] = [
        { ...OWNER, engine: "x" },
        { ...OWNER, pid: 999 },
        { ...OWNER, processStart: "x" },
        { ...OWNER, bootId: "x" },
        { ...OWNER, host: "x" },
      ];
      for (const other of others) expect(await acquire(other, 101)).toMatchObject({ granted: false });
    });

    test("of an owner known to be dead is replaced at once, if its token is still the one that was seen", async () => {
      await acquire(OWNER, 100);
      expect(await acquire(RIVAL, 101, { evenFrom: 7 })).toMatchObject({ granted: false });
      expect(await acquire(RIVAL, 101, { evenFrom: 1 })).toEqual({ granted: true, fence: 2 });
      const late = { ...OWNER, engine: "late" };
      expect(await acquire(late, 102, { evenFrom: 1 })).toMatchObject({
        granted: false,
        lease: { owner: RIVAL },
      });
    });

    test("of one run says nothing about another run", async () => {
      await acquire(OWNER, 100);
      expect(await acquire(RIVAL, 100, { runId: 2 })).toEqual({ granted: true, fence: 1 });
    });
  });
}

function keepingLeases(under: StoreUnderTest, acquire: Acquire): void {
  const renew = (fence: number) => under.store.renewLeases([{ runId: RUN, fence }], 490, 500);

  describe("a lease that was granted", () => {
    test("is kept by renewing it", async () => {
      await acquire(OWNER, 100);
      expect(await renew(1)).toEqual([]);
      expect(await acquire(RIVAL, 499)).toMatchObject({ granted: false, lease: { expiresAt: 500 } });
    });

    test("is kept together with others, and those that are lost are named", async () => {
      const { store } = under;
      for (const runId of [1, 2, 3, 4]) await acquire(OWNER, 100, { runId });
      await acquire(RIVAL, 200, { runId: 2 });
      await store.releaseLease(4, 1);
      const held = [5, 4, 3, 2, 1].map((runId) => ({ runId, fence: 1 }));
      expect(await store.renewLeases(held, 490, 500)).toEqual([5, 4, 2]);
      for (const runId of [1, 3]) {
        expect(await store.readLease(runId)).toEqual({ owner: OWNER, fence: 1, expiresAt: 500 });
      }
      expect(await store.readLease(2)).toEqual({ owner: RIVAL, fence: 2, expiresAt: 210 });
      expect(await store.readLease(4)).toBeNull();
      expect(await store.renewLeases([], 490, 500)).toEqual([]);
    });

    test("can be renewed after it expired as long as nobody took it", async () => {
      await acquire(OWNER, 100);
      expect(await renew(1)).toEqual([]);
    });

    test("cannot be renewed once it was lost or given back, nor if it never was", async () => {
      const { store } = under;
      expect(await renew(0)).toEqual([RUN]);
      await acquire(OWNER, 100);
      await acquire(RIVAL, 200);
      expect(await renew(1)).toEqual([RUN]);
      expect(await store.readLease(RUN)).toEqual({ owner: RIVAL, fence: 2, expiresAt: 210 });
      await store.releaseLease(RUN, 2);
      expect(await renew(2)).toEqual([RUN]);
      expect(await store.readLease(RUN)).toBeNull();
    });

    test("is free after it was given back, and the next token is higher", async () => {
      await acquire(OWNER, 100);
      await under.store.releaseLease(RUN, 1);
      expect(await under.store.readLease(RUN)).toBeNull();
      expect(await acquire(RIVAL, 100)).toEqual({ granted: true, fence: 2 });
    });

    test("can still be read after it was given back or ran out, among others", async () => {
      const { store } = under;
      for (const runId of [1, 2, 3]) await acquire(OWNER, 100, { runId });
      await acquire(RIVAL, 200, { runId: 3 });
      await store.releaseLease(2, 1);
      const last = await store.readLastLeases([1, 2, 3, 4]);
      expect(last.sort((a, b) => a.runId - b.runId)).toEqual([
        { runId: 1, owner: OWNER, expiresAt: 110 },
        { runId: 2, owner: null, expiresAt: 110 },
        { runId: 3, owner: RIVAL, expiresAt: 210 },
      ]);
      expect(await store.readLastLeases([])).toEqual([]);
    });

    test("cannot be given back by an owner who lost it", async () => {
      await acquire(OWNER, 100);
      await acquire(RIVAL, 200);
      await under.store.releaseLease(RUN, 1);
      expect(await under.store.readLease(RUN)).toMatchObject({ owner: RIVAL });
    });

    test("is granted to one alone of many who ask at once", async () => {
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, i) => acquire({ ...OWNER, engine: `engine-${i}` }, 100)),
      );
      expect(answers.filter(({ granted }) => granted)).toEqual([{ granted: true, fence: 1 }]);
    });
  });
}
