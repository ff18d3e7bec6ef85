import { describe, expect, test } from "vitest";
import type { LeaseOwner, Store, WaitingRun } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, OWNER, putRun, RIVAL, runRow } from "./store-fixtures.js";

const NOW = 100;
const WANTED = { managed: true, wanted: true };
const REQUEST = { owner: RIVAL, now: NOW, expiresAt: NOW + 10 };

/** A run that OWNER holds, named as waiting. */
async function putWaitingRun(store: Store, asks = "[]"): Promise<WaitingRun> {
  const runId = await putRun(store, WANTED);
  const [claimed] = await store.claimRuns({ owner: OWNER, now: NOW, expiresAt: NOW + 10, limit: 1 });
  expect(claimed?.runId).toBe(runId);
  return { runId, fence: claimed!.fence, seq: 1, asks };
}

export function waitingContract(under: StoreUnderTest): void {
  namedRuns(under);
  takenRuns(under);
}

function namedRuns(under: StoreUnderTest): void {
  describe("runs that wait for a worker", () => {
    test("are told to all but who named them, as they were named, and replaced by what it names next", async () => {
      const { store } = under;
      const asks = JSON.stringify({ needs: [{ tags: ['a"b\\c', "\ud83d\ude00"] }] });
      const [first, second] = [await putWaitingRun(store, asks), await putWaitingRun(store)];
      await store.putWaiting(OWNER, [second, first]);
      expect(await store.listWaiting(RIVAL)).toEqual([first, second]);
      expect(await store.listWaiting(OWNER)).toEqual([]);
      await store.putWaiting(OWNER, [{ ...second, seq: 7 }]);
      expect(await store.listWaiting(RIVAL)).toEqual([{ ...second, seq: 7 }]);
      await store.putWaiting(OWNER, []);
      expect(await store.listWaiting(RIVAL)).toEqual([]);
    });

    test("are told no more once somebody else holds them, or nobody", async () => {
      const { store } = under;
      const [first, second] = [await putWaitingRun(store), await putWaitingRun(store)];
      await store.putWaiting(OWNER, [first, second]);
      const late = { owner: RIVAL, now: NOW + 10, expiresAt: NOW + 20 };
      await store.acquireLease({ runId: first.runId, ...late });
      await store.releaseLease(second.runId, second.fence);
      const third: LeaseOwner = { ...OWNER, pid: 12, engine: "engine-3" };
      expect(await store.listWaiting(third)).toEqual([]);
    });

    test("of one owner stay when another names its own", async () => {
      const { store } = under;
      const mine = await putWaitingRun(store);
      await store.putWaiting(OWNER, [mine]);
      await store.putWaiting(RIVAL, []);
      expect(await store.listWaiting(RIVAL)).toEqual([mine]);
    });

    test("that are not there are not named, and one that is deleted is forgotten", async () => {
      const { store } = under;
      const run = await putWaitingRun(store);
      await store.putWaiting(OWNER, [run, { ...run, runId: 99 }]);
      expect(await store.listWaiting(RIVAL)).toEqual([run]);
      const held = { runId: run.runId, fence: run.fence };
      await store.commit([appendTo(held, 2, { run: runRow(run.runId, { status: "completed" }) })]);
      await store.releaseLease(run.runId, run.fence);
      expect(await store.deleteRun(run.runId)).toBe(true);
      expect(await store.listWaiting(RIVAL)).toEqual([]);
    });
  });
}

function takenRuns(under: StoreUnderTest): void {
  describe("taking a run that waits for a worker", () => {
    test("takes it from its living owner, who can write no more", async () => {
      const { store } = under;
      const run = await putWaitingRun(store);
      await store.putWaiting(OWNER, [run]);
      const { runId } = run;
      expect(await store.takeWaiting(run, REQUEST)).toEqual({ runId, fence: run.fence + 1 });
      expect(await store.readLease(runId)).toEqual({ owner: RIVAL, fence: 3, expiresAt: NOW + 10 });
      await expect(store.commit([appendTo({ runId, fence: 2 }, 2)])).rejects.toMatchObject({
        code: "LEASE_LOST",
      });
      expect(await store.renewLeases([{ runId, fence: 2 }], NOW, 500)).toEqual([runId]);
      await store.commit([appendTo({ runId, fence: 3 }, 2)]);
      expect(await store.listWaiting({ ...OWNER, engine: "third" })).toEqual([]);
    });

    test("comes to nothing once its owner has gone on with it", async () => {
      const { store } = under;
      const run = await putWaitingRun(store);
      await store.putWaiting(OWNER, [run]);
      await store.commit([appendTo({ runId: run.runId, fence: 2 }, 2)]);
      expect(await store.takeWaiting(run, REQUEST)).toBeNull();
      expect(await store.readLease(run.runId)).toMatchObject({ owner: OWNER, fence: 2 });
    });

    test("gives it to one of many who ask at once, and to nobody while its owner commits", async () => {
      const { store } = under;
      const run = await putWaitingRun(store);
      await store.putWaiting(OWNER, [run]);
      const takers = Array.from({ length: 8 }, (_, i) => ({ ...OWNER, engine: `taker-${i}` }));
      const [committed, ...taken] = await Promise.all([
        store.commit([appendTo({ runId: run.runId, fence: 2 }, 2)]).then(
          () => true,
          () => false,
        ),
        ...takers.map((owner) => store.takeWaiting(run, { ...REQUEST, owner })),
      ]);
      expect(taken.filter((one) => one !== null)).toHaveLength(committed ? 0 : 1);
      expect(await store.readEvents(run.runId)).toHaveLength(committed ? 2 : 1);
    });

    test("that was given back comes to nothing", async () => {
      const { store } = under;
      const run = await putWaitingRun(store);
      await store.releaseLease(run.runId, run.fence);
      expect(await store.takeWaiting(run, REQUEST)).toBeNull();
      expect(await store.takeWaiting({ ...run, runId: 99 }, REQUEST)).toBeNull();
    });
  });
}
