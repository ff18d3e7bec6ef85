import { describe, expect, test } from "vitest";
import type { LeaseOwner } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, OWNER, putRun, RIVAL, runRow } from "./store-fixtures.js";

const NOW = 100;
const WANTED = { managed: true, wanted: true };

export function claimContract(under: StoreUnderTest): void {
  const claim = (owner: LeaseOwner, limit = 10, now = NOW) =>
    under.store.claimRuns({ owner, now, expiresAt: now + 10, limit });

  claimedRuns(under, claim);
  runsLeftAlone(under, claim);
}

type Claim = (
  owner: LeaseOwner,
  limit?: number,
  now?: number,
) => ReturnType<StoreUnderTest["store"]["claimRuns"]>;

function claimedRuns(under: StoreUnderTest, claim: Claim): void {
  describe("claiming", () => {
    test("takes a run that wants an engine, with a lease like any other and a higher token", async () => {
      const { store } = under;
      const runId = await putRun(store, WANTED);
      expect(await claim(RIVAL)).toEqual([{ runId, fence: 2 }]);
      expect(await store.readLease(runId)).toEqual({ owner: RIVAL, fence: 2, expiresAt: NOW + 10 });
      await store.commit([appendTo({ runId, fence: 2 }, 2)]);
      expect(await store.renewLeases([{ runId, fence: 2 }], NOW, 500)).toEqual([]);
      const late = { runId, owner: OWNER, now: NOW + 20, expiresAt: NOW + 30 };
      expect(await store.acquireLease(late)).toMatchObject({ granted: false, lease: { owner: RIVAL } });
    });

    test("takes the oldest runs first and no more than it may", async () => {
      const runs = [await putRun(under.store, WANTED), await putRun(under.store, WANTED)];
      runs.push(await putRun(under.store, WANTED));
      expect(await claim(OWNER, 0)).toEqual([]);
      expect((await claim(OWNER, 2)).map(({ runId }) => runId)).toEqual(runs.slice(0, 2));
      expect((await claim(RIVAL, 2)).map(({ runId }) => runId)).toEqual(runs.slice(2));
      expect(await claim(RIVAL, 2)).toEqual([]);
    });

    test("passes over the runs that it must not take", async () => {
      const { store } = under;
      const [first, second] = [await putRun(store, WANTED), await putRun(store, WANTED)];
      const request = { owner: OWNER, now: NOW, expiresAt: NOW + 10, limit: 1 };
      expect(await store.claimRuns({ ...request, except: [first, 99] })).toEqual([
        { runId: second, fence: 2 },
      ]);
      expect(await store.claimRuns({ ...request, except: [first, second] })).toEqual([]);
      expect(await store.claimRuns({ ...request, except: [] })).toEqual([{ runId: first, fence: 2 }]);
    });

    test("takes a run whose lease has run out from the instant it does, and its owner can write no more", async () => {
      const { store } = under;
      const runId = await putRun(store, WANTED);
      await claim(OWNER);
      expect(await claim(RIVAL, 10, NOW + 9)).toEqual([]);
      expect(await claim(RIVAL, 10, NOW + 10)).toEqual([{ runId, fence: 3 }]);
      expect(await store.readLease(runId)).toEqual({ owner: RIVAL, fence: 3, expiresAt: NOW + 20 });
      await expect(store.commit([appendTo({ runId, fence: 2 }, 2)])).rejects.toMatchObject({
        code: "LEASE_LOST",
      });
    });

    test("takes a run that was given back at once", async () => {
      const runId = await putRun(under.store, WANTED);
      await claim(OWNER);
      await under.store.releaseLease(runId, 2);
      expect(await claim(RIVAL)).toEqual([{ runId, fence: 3 }]);
    });

    test("takes a run at once from an owner who is known to be dead, and from no other", async () => {
      const { store } = under;
      const [first, second] = [await putRun(store, WANTED), await putRun(store, WANTED)];
      const dead: LeaseOwner = { ...OWNER, pid: 99, engine: "dead" };
      const late = { ...OWNER, engine: "late" };
      expect((await claim(dead, 1)).map(({ runId }) => runId)).toEqual([first]);
      expect((await claim(RIVAL, 1)).map(({ runId }) => runId)).toEqual([second]);
      const request = { owner: late, now: NOW, expiresAt: NOW + 10, limit: 10 };
      const others = [
        { ...dead, engine: "x" },
        { ...dead, pid: 1 },
      ];
      expect(await store.claimRuns({ ...request, deadOwners: others })).toEqual([]);
      const { engine, pid, ...rest } = dead;
      expect(
        await store.claimRuns({ ...request, deadOwners: [...others, { engine, pid, ...rest }] }),
      ).toEqual([{ runId: first, fence: 3 }]);
      expect(await store.readLease(first)).toMatchObject({ owner: late });
      expect(await store.readLease(second)).toMatchObject({ owner: RIVAL });
    });

    test("knows who holds the runs that want an engine, each once", async () => {
      const { store } = under;
      for (let i = 0; i < 4; i += 1) await putRun(store, WANTED);
      expect(await store.listOwners()).toEqual([]);
      await claim(OWNER, 2);
      await claim(RIVAL, 1);
      const resting = await putRun(store);
      await store.acquireLease({
        runId: resting,
        owner: { ...OWNER, engine: "resting" },
        now: NOW,
        expiresAt: NOW + 10,
      });
      const owners = (await store.listOwners()).sort((a, b) => a.owner.pid - b.owner.pid);
      expect(owners).toEqual([
        { owner: OWNER, mark: NOW + 10 },
        { owner: RIVAL, mark: NOW + 10 },
      ]);
      await store.renewLeases([{ runId: 3, fence: 2 }], NOW + 5, NOW + 15);
      expect((await store.listOwners()).map(({ mark }) => mark).sort()).toEqual([NOW + 10, NOW + 15]);
    });

    test("gives no run to two of many who ask at once, and leaves none out", async () => {
      const runs: number[] = [];
      for (let i = 0; i < 20; i += 1) runs.push(await putRun(under.store, WANTED));
      const claims = await Promise.all(
        Array.from({ length: 10 }, (_, i) => claim({ ...OWNER, engine: `engine-${i}` }, 3)),
      );
      // One that found runs taken by others at that moment may have come away with fewer.
      const rest = await claim(RIVAL, 20);
      const claimed = [...claims.flat(), ...rest].sort((a, b) => a.runId - b.runId);
      expect(claimed).toEqual(runs.map((runId) => ({ runId, fence: 2 })));
    });
  });
}

function runsLeftAlone(under: StoreUnderTest, claim: Claim): void {
  describe("claiming leaves alone", () => {
    test("runs that want none, managed or not", async () => {
      await putRun(under.store);
      await putRun(under.store, { managed: true });
      expect(await claim(OWNER)).toEqual([]);
    });

    test("runs that are held, by the one who asks too", async () => {
      await putRun(under.store, WANTED);
      await claim(OWNER);
      expect(await claim(OWNER)).toEqual([]);
      expect(await claim(RIVAL)).toEqual([]);
    });

    test("a run at rest until the moment at which it is due, and gives it to one then", async () => {
      const { store } = under;
      const due = { managed: true, wanted: false, wanted_at: NOW + 5, status: "held" } as const;
      const runId = await putRun(store, due);
      await putRun(store, { ...due, wanted_at: NOW + 500 });
      expect(await claim(OWNER, 10, NOW + 4)).toEqual([]);
      expect(await claim(OWNER, 10, NOW + 5)).toEqual([{ runId, fence: 2 }]);
      expect(await claim(RIVAL, 10, NOW + 6)).toEqual([]);
      expect((await store.listOwners()).map(({ owner }) => owner)).toEqual([OWNER]);
      const dead = { owner: RIVAL, now: NOW + 6, expiresAt: NOW + 16, limit: 10, deadOwners: [OWNER] };
      expect(await store.claimRuns(dead)).toEqual([{ runId, fence: 3 }]);
    });

    test("run ids that have no run yet", async () => {
      await under.store.reserveRunId();
      expect(await claim(OWNER)).toEqual([]);
    });

    test("a run that has come to rest, until it wants an engine again", async () => {
      const { store } = under;
      const runId = await putRun(store, WANTED);
      await claim(OWNER);
      const taken = { runId, fence: 2 };
      await store.commit([appendTo(taken, 2, { run: runRow(runId, { managed: true, status: "held" }) })]);
      await store.releaseLease(runId, 2);
      expect(await claim(RIVAL)).toEqual([]);
      const next = await store.acquireLease({ runId, owner: OWNER, now: NOW, expiresAt: NOW + 10 });
      expect(next).toEqual({ granted: true, fence: 3 });
      await store.commit([appendTo({ runId, fence: 3 }, 3, { run: runRow(runId, WANTED) })]);
      await store.releaseLease(runId, 3);
      expect(await claim(RIVAL)).toEqual([{ runId, fence: 4 }]);
    });
  });
}
