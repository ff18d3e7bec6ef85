import { describe, expect, test } from "vitest";
import type { ConcurrencyPolicy } from "../../src/core/groups/concurrency.js";
import type { RunRow } from "../../src/core/model/rows.js";
import type { LeaseOwner } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, OWNER, RIVAL, runRow, type TakenRun, takeRun } from "./store-fixtures.js";

const NOW = 100;
const GROUP = "deploy-'prod' \"é\" %_";

interface Queued {
  readonly limit?: number;
  readonly policy?: ConcurrencyPolicy;
  readonly priority?: number;
  readonly managed?: boolean;
  readonly group?: string;
}

/** A run that has not begun. One of a process keeps its lease. */
async function enqueue(under: StoreUnderTest, queued: Queued = {}, owner = OWNER): Promise<TakenRun> {
  const { store } = under;
  const { managed = true } = queued;
  const taken = await takeRun(store, owner);
  await store.commit([appendTo(taken, 1, { run: rowOf(taken.runId, queued) })]);
  if (managed) await store.releaseLease(taken.runId, taken.fence);
  return taken;
}

function rowOf(runId: number, queued: Queued = {}, changes: Partial<RunRow> = {}): RunRow {
  const { limit = 1, policy = "queue", priority = 0, managed = true, group = GROUP } = queued;
  const concurrency = { group, limit, policy };
  return runRow(runId, { status: "pending", managed, concurrency, priority, ...changes });
}

export function placeContract(under: StoreUnderTest): void {
  const claim = async (limit = 10, owner: LeaseOwner = RIVAL) =>
    (await under.store.claimRuns({ owner, now: NOW, expiresAt: NOW + 50, limit })).map(({ runId }) => runId);
  const start = async (runId: number, queued: Queued = {}, owner = RIVAL) => {
    const { store } = under;
    const { fence } = (await store.readLease(runId))!;
    const [last] = (await store.readEvents(runId)).slice(-1);
    const run = rowOf(runId, queued, { status: "running", started_at: 5, wanted: true });
    await store.commit([appendTo({ runId, fence }, last!.seq + 1, { run })]);
    return { runId, fence, owner };
  };
  const end = async (runId: number, queued: Queued = {}) => {
    const { store } = under;
    const { fence } = (await store.readLease(runId))!;
    const [last] = (await store.readEvents(runId)).slice(-1);
    const run = rowOf(runId, queued, { status: "failed", started_at: 5, finished_at: 9 });
    await store.commit([appendTo({ runId, fence }, last!.seq + 1, { run })]);
    await store.releaseLease(runId, fence);
  };
  const takeSlot = ({ runId, fence }: TakenRun, deadOwners: readonly LeaseOwner[] = []) =>
    under.store.takeSlot({ runId, fence, now: NOW, deadOwners });

  describe("a place in a group", () => {
    test("is taken with the claim, and freed by the end of the run", { tags: ["G1"] }, async () => {
      const { runId: first } = await enqueue(under);
      const { runId: second } = await enqueue(under);
      expect(await claim()).toEqual([first]);
      expect(await claim()).toEqual([]);
      await start(first);
      expect(await claim()).toEqual([]);
      await end(first);
      expect(await claim()).toEqual([second]);
    });

    test("is kept by a run whose owner is gone before it began, and the run is claimed again with it", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const [{ runId: first }] = [await enqueue(under), await enqueue(under)];
      expect(await claim(10, OWNER)).toEqual([first]);
      const request = { owner: RIVAL, now: NOW, expiresAt: NOW + 50, limit: 10 };
      expect(await store.claimRuns(request)).toEqual([]);
      expect(await store.claimRuns({ ...request, deadOwners: [OWNER] })).toEqual([
        { runId: first, fence: 3 },
      ]);
      const late = { ...OWNER, engine: "late" };
      expect(await store.claimRuns({ ...request, owner: late, now: NOW + 50 })).toEqual([
        { runId: first, fence: 4 },
      ]);
    });

    test("is kept by a run that rests, and by one that nobody holds", { tags: ["G1"] }, async () => {
      const { store } = under;
      const [{ runId: first }] = [await enqueue(under), await enqueue(under)];
      await claim();
      const { fence } = await start(first);
      const run = rowOf(first, {}, { status: "held", started_at: 5 });
      await store.commit([appendTo({ runId: first, fence }, 3, { run })]);
      await store.releaseLease(first, fence);
      expect(await claim()).toEqual([]);
      expect(await store.readGroups(null, NOW)).toMatchObject([
        { runId: first, status: "held", place: 1, owner: null },
        { status: "pending", place: null },
      ]);
    });

    test("is given by priority, then by number", { tags: ["G1", "G2"] }, async () => {
      const low = await enqueue(under, { priority: -1 });
      const [one, two] = [await enqueue(under), await enqueue(under)];
      const high = await enqueue(under, { priority: 7 });
      for (const { runId } of [high, one, two, low]) {
        expect(await claim()).toEqual([runId]);
        await start(runId);
        await end(runId);
      }
    });

    test("is one of as many as the limit, each of several groups for itself", { tags: ["G1"] }, async () => {
      const two = { limit: 2 };
      const runs = [await enqueue(under, two), await enqueue(under, two), await enqueue(under, two)];
      const other = await enqueue(under, { group: "other" });
      expect(await claim()).toEqual([runs[0]!.runId, runs[1]!.runId, other.runId]);
      expect((await under.store.readGroups(["other"], NOW)).map(({ runId }) => runId)).toEqual([other.runId]);
    });

    test("is not given beside a run with a smaller limit, nor to one, and who is behind it waits", {
      tags: ["G1"],
    }, async () => {
      const small = await enqueue(under, { limit: 1 });
      const large = await enqueue(under, { limit: 3 });
      expect(await claim()).toEqual([small.runId]);
      await start(small.runId, { limit: 1 });
      await end(small.runId, { limit: 1 });
      const again = await enqueue(under, { limit: 1 });
      const behind = await enqueue(under, { limit: 3 });
      expect(await claim()).toEqual([large.runId]);
      await start(large.runId, { limit: 3 });
      await end(large.runId, { limit: 3 });
      expect(await claim()).toEqual([again.runId]);
      await start(again.runId);
      await end(again.runId);
      expect(await claim()).toEqual([behind.runId]);
    });

    test("is given to a run that replaces others only when all before it are over", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const first = await enqueue(under, { limit: 2 });
      await claim();
      await start(first.runId, { limit: 2 });
      const waiting = await enqueue(under, { managed: false, limit: 2 });
      await store.releaseLease(waiting.runId, waiting.fence);
      const replaces = { limit: 2, policy: "cancel_running" } as const;
      const late = await enqueue(under, replaces);
      expect(await claim()).toEqual([]);
      await end(first.runId, { limit: 2 });
      expect(await claim()).toEqual([]);
      await store.acquireLease({ runId: waiting.runId, owner: OWNER, now: NOW, expiresAt: NOW + 9 });
      await end(waiting.runId, { managed: false, limit: 2 });
      expect(await claim()).toEqual([late.runId]);
    });

    test("is refused to a commit that begins or reopens a run while none is free, and nothing of it is written", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const reject = { policy: "reject" } as const;
      const [first, second] = [await takeRun(store), await takeRun(store)];
      const begin = ({ runId, fence }: TakenRun) =>
        store.commit([
          appendTo({ runId, fence }, 1, { run: rowOf(runId, reject, { status: "running", started_at: 5 }) }),
        ]);
      await begin(first);
      await expect(begin(second)).rejects.toMatchObject({
        code: "GROUP_BUSY",
        message: `no place is free in the group ${GROUP}: run ${first.runId} has it`,
      });
      expect(await store.readRun(second.runId)).toBeNull();
      expect(await store.readEvents(second.runId)).toEqual([]);
      await end(first.runId, reject);
      await begin(second);
      const reopened = await store.acquireLease({
        runId: first.runId,
        owner: OWNER,
        now: NOW,
        expiresAt: 500,
      });
      const fence = (reopened as { fence: number }).fence;
      const reopen = () =>
        store.commit([
          appendTo({ runId: first.runId, fence }, 3, {
            run: rowOf(first.runId, reject, { status: "running", started_at: 5 }),
          }),
        ]);
      await expect(reopen()).rejects.toMatchObject({ code: "GROUP_BUSY" });
      expect(await store.readRun(first.runId)).toMatchObject({ status: "failed" });
      await end(second.runId, reject);
      await reopen();
      expect((await store.readGroups([GROUP], NOW)).map(({ runId, place }) => [runId, place])).toEqual([
        [first.runId, 3],
      ]);
    });

    test("is refused to one of two runs in one commit, and to all but one of many at once", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const begin = ({ runId, fence }: TakenRun) =>
        appendTo({ runId, fence }, 1, { run: rowOf(runId, {}, { status: "running", started_at: 5 }) });
      const pair = [await takeRun(store), await takeRun(store)];
      await expect(store.commit(pair.map(begin))).rejects.toMatchObject({ code: "GROUP_BUSY" });
      const runs = await Promise.all(Array.from({ length: 8 }, () => takeRun(store)));
      const results = await Promise.allSettled(runs.map((run) => store.commit([begin(run)])));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const result of results)
        if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "GROUP_BUSY" });
    });

    test("never has more than its limit of many who claim, take and begin at once, and none is left over", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const limit = 3;
      const managed = await Promise.all(Array.from({ length: 8 }, () => enqueue(under, { limit })));
      const own = await Promise.all(
        Array.from({ length: 4 }, (_, n) =>
          enqueue(under, { limit, managed: false, priority: 1 }, { ...OWNER, engine: `own-${n}` }),
        ),
      );
      const waiting = new Set([...managed, ...own].map(({ runId }) => runId));
      for (let round = 0; waiting.size > 0; round += 1) {
        expect(round).toBeLessThan(30);
        const claims = Array.from({ length: 4 }, (_, n) => claim(10, { ...RIVAL, engine: `rival-${n}` }));
        const takes = own.filter(({ runId }) => waiting.has(runId)).map((run) => takeSlot(run));
        const sets = await Promise.all(claims);
        const claimed = sets.flat();
        expect(new Set(claimed).size).toBe(claimed.length);
        await Promise.all(takes);
        const holders = (await store.readGroups([GROUP], NOW)).filter(({ place }) => place !== null);
        expect(holders.length).toBeLessThanOrEqual(limit);
        for (const { runId, managed: isManaged } of holders) {
          await start(runId, { limit, managed: isManaged });
          await end(runId, { limit, managed: isManaged });
          waiting.delete(runId);
        }
      }
    });
  });

  describe("a run of a process that waits for a place", () => {
    test("takes it itself when it is its turn, under its token, and has it then", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const first = await enqueue(under, { managed: false });
      const second = await enqueue(under, { managed: false });
      expect(await claim()).toEqual([]);
      expect(await takeSlot(second)).toBe(false);
      expect(await takeSlot({ ...first, fence: 9 })).toBe(false);
      expect(await takeSlot(first)).toBe(true);
      expect(await takeSlot(first)).toBe(true);
      expect(await takeSlot(second)).toBe(false);
      await start(first.runId, { managed: false });
      await end(first.runId, { managed: false });
      expect(await takeSlot(first)).toBe(false);
      expect(await takeSlot(second)).toBe(true);
      expect(await takeSlot({ runId: 999, fence: 1 })).toBe(false);
      const { runId } = await takeRun(store);
      expect(await takeSlot({ runId, fence: 1 })).toBe(false);
    });

    test("keeps runs of servers waiting while it lives, and nobody when its process is gone", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const gone = await enqueue(under, { managed: false });
      const { runId: behind } = await enqueue(under);
      expect(await claim()).toEqual([]);
      expect((await store.listOwners()).map(({ owner }) => owner)).toEqual([OWNER]);
      const request = { owner: RIVAL, now: NOW, expiresAt: NOW + 50, limit: 10 };
      const dead = await store.claimRuns({ ...request, deadOwners: [OWNER] });
      expect(dead.map(({ runId }) => runId)).toEqual([behind]);
      await start(behind);
      await end(behind);
      const { runId: next } = await enqueue(under);
      expect(await claim()).toEqual([]);
      await store.releaseLease(gone.runId, gone.fence);
      expect(await claim()).toEqual([next]);
    });

    test("waits behind a run of servers, and not for one whose lease has run out", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const first = await takeRun(store);
      await store.commit([appendTo(first, 1, { run: rowOf(first.runId, { managed: false }) })]);
      await store.releaseLease(first.runId, first.fence);
      const lease = { runId: first.runId, owner: OWNER, now: NOW, expiresAt: NOW + 1 };
      const again = await store.acquireLease(lease);
      const second = await enqueue(under, { managed: false }, RIVAL);
      expect(await takeSlot(second)).toBe(false);
      expect(await store.takeSlot({ ...second, now: NOW + 1 })).toBe(true);
      const server = await enqueue(under);
      const third = await enqueue(under, { managed: false }, RIVAL);
      await start(second.runId, { managed: false });
      await end(second.runId, { managed: false });
      await store.releaseLease(first.runId, (again as { fence: number }).fence);
      expect(await takeSlot(third)).toBe(false);
      expect(await claim()).toEqual([server.runId]);
    });
  });

  describe("groups", () => {
    test("tell of their runs that are not over, with what they wait for", { tags: ["G1"] }, async () => {
      const { store } = under;
      const { runId } = await enqueue(under, { limit: 2, policy: "cancel_running", priority: 4 });
      await enqueue(under, { group: "other" });
      expect(await store.readGroups([GROUP], NOW)).toEqual([
        {
          runId,
          workflow: "release",
          concurrency: { group: GROUP, limit: 2, policy: "cancel_running" },
          priority: 4,
          status: "pending",
          managed: true,
          place: null,
          owner: null,
        },
      ]);
      expect(await store.readGroups(null, NOW)).toHaveLength(2);
      expect(await store.readGroups([], NOW)).toEqual([]);
      const again = await under.reopen();
      expect(await again.readGroups(null, NOW)).toHaveLength(2);
    });

    test("tell those who listen that a run waits, and that one has left its place", {
      tags: ["G1"],
    }, async () => {
      const { store } = under;
      const heard: number[] = [];
      store.onChange(({ kind, runId }) => void (kind === "wanted" && heard.push(runId)));
      const { runId } = await enqueue(under);
      await expect.poll(() => heard.filter((id) => id === runId).length).toBeGreaterThanOrEqual(2);
      await claim();
      await start(runId);
      heard.length = 0;
      await end(runId);
      await expect.poll(() => heard).toContain(runId);
    });

    test("forget a run that is deleted", { tags: ["G1"] }, async () => {
      const { store } = under;
      const { runId } = await enqueue(under);
      await claim();
      await start(runId);
      expect(await store.deleteRun(runId)).toBe(false);
      await end(runId);
      expect(await store.deleteRun(runId)).toBe(true);
      expect(await store.readGroups([GROUP], NOW)).toEqual([]);
      const next = await enqueue(under);
      expect(await claim()).toEqual([next.runId]);
    });
  });

  describe("the priority of a run", () => {
    test("says which of the runs that want an engine is taken first", { tags: ["G2"] }, async () => {
      const { store } = under;
      const wanted = { managed: true, wanted: true };
      const put = async (priority: number | null) => {
        const taken = await takeRun(store);
        await store.commit([appendTo(taken, 1, { run: runRow(taken.runId, { ...wanted, priority }) })]);
        await store.releaseLease(taken.runId, taken.fence);
        return taken.runId;
      };
      const [low, plain, high] = [await put(-2), await put(null), await put(5)];
      expect(await claim(1)).toEqual([high]);
      expect(await claim(1)).toEqual([plain]);
      expect(await claim(1)).toEqual([low]);
    });
  });
}
