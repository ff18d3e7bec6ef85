import { afterEach, beforeEach, describe, expect, test, vi } from "vitest";
import { openPostgresStore } from "../../src/store/postgres/postgres-store.js";
import type { Store, StoreChange } from "../../src/store/store.js";
import { CuttingProxy } from "../support/cutting-proxy.js";
import { openInFreshSchema } from "../support/embedded-postgres.js";
import { HANG_MS } from "../support/hang.js";
import { appendTo, canceledEvent, FAR_FUTURE, OWNER, putRun, RIVAL, takeRun } from "./store-fixtures.js";

const DEADLINE_MS = 1_000;
const WANTED = { managed: true, wanted: true };

let direct: Awaited<ReturnType<typeof openInFreshSchema>>;
let proxy: CuttingProxy;
let store: Store;

beforeEach(async () => {
  direct = await openInFreshSchema();
  const { port } = new URL(direct.url);
  proxy = await CuttingProxy.to(Number(port));
  const url = direct.url.replace(port, String(proxy.port));
  store = await openPostgresStore({
    ...{ url, schema: direct.schema },
    ...{ leaseClock: "caller", maxDeadlineMs: DEADLINE_MS },
  });
});
afterEach(async () => {
  await store.close();
  await proxy.close();
  await direct.dispose();
});

describe("a connection that falls silent", () => {
  test("before a commit has arrived makes it late, not lost", async () => {
    const run = await takeRun(store);
    proxy.cutNext("silent question", "mark-1");
    await store.commit([appendTo(run, 1, { events: [canceledEvent("mark-1")] })]);
    expect(proxy.hasCut).toBe(true);
    expect(await store.readEvents(run.runId)).toMatchObject([{ seq: 1, event: { reason: "mark-1" } }]);
  });

  test("before the answer to a commit has arrived does not make it fail, nor be written twice", async () => {
    const run = await takeRun(store);
    proxy.cutNext("silent answer", "mark-2");
    await store.commit([appendTo(run, 1, { events: [canceledEvent("mark-2"), canceledEvent("b")] })]);
    expect(proxy.hasCut).toBe(true);
    expect(await store.readEvents(run.runId)).toHaveLength(2);
    await store.commit([appendTo(run, 3)]);
  });

  test("with everything on its way keeps nobody waiting for ever: reads, commits, leases, listeners", async () => {
    const run = await takeRun(store);
    await store.commit([appendTo(run, 1)]);
    const heard: StoreChange[] = [];
    store.onChange((change) => heard.push(change));
    let key = 0;
    const hears = () =>
      vi.waitUntil(
        async () => {
          await direct.store.sendCommand({ runId: run.runId, key: String(++key), command: "{}", at: 1 });
          return heard.length > 0;
        },
        { timeout: HANG_MS, interval: 20 },
      );
    await hears();
    proxy.silenceAll();
    const [events, , lost] = await Promise.all([
      store.readEvents(run.runId),
      store.commit([appendTo(run, 2)]),
      store.renewLeases([run], 0, 9),
      store.ping(),
    ]);
    expect(events.length).toBeGreaterThan(0);
    expect(lost).toEqual([]);
    expect(await store.readEvents(run.runId)).toHaveLength(2);
    heard.length = 0;
    await hears();
  });

  test("for good is told as a store that cannot be reached", async () => {
    proxy.silenceAll({ forGood: true });
    await expect(store.ping()).rejects.toMatchObject({
      code: "STORE_FAILED",
      message: expect.stringContaining("cannot be reached: no answer within 1 s"),
    });
  }, 30_000);
});

describe("a claim whose answer is lost", () => {
  test.each(["answer", "silent answer"] as const)(
    "(%s) gets the runs that it took all the same",
    async (cut) => {
      const runs = [await putRun(direct.store, WANTED), await putRun(direct.store, WANTED)];
      const claim = { owner: { ...OWNER, engine: "mark-3" }, now: 10, expiresAt: 30, limit: 1 };
      const [held] = await store.claimRuns(claim);
      expect(held?.runId).toBe(runs[0]);
      proxy.cutNext(cut, "mark-3");
      expect(await store.claimRuns({ ...claim, now: 11, expiresAt: 31, limit: 5 })).toEqual([
        { runId: runs[1], fence: 2 },
      ]);
      expect(proxy.hasCut).toBe(true);
      expect(await direct.store.claimRuns({ ...claim, owner: RIVAL })).toEqual([]);
      await store.commit([appendTo({ runId: runs[1]!, fence: 2 }, 2)]);
    },
  );
});

describe("machines whose clocks disagree", () => {
  let shared: Store;
  const [behind, ahead] = [1_000, FAR_FUTURE];
  const LEASE_MS = 60_000;

  beforeEach(async () => {
    shared = await openPostgresStore({ url: direct.url, schema: direct.schema });
  });
  afterEach(() => shared.close());

  test("cannot take each other's runs: the database's clock says when a lease has run out", async () => {
    const runId = await putRun(shared, WANTED);
    const times = (now: number) => ({ now, expiresAt: now + LEASE_MS });
    const [taken] = await shared.claimRuns({ owner: OWNER, ...times(behind), limit: 5 });
    expect(taken).toEqual({ runId, fence: 2 });
    expect(await shared.claimRuns({ owner: RIVAL, ...times(ahead), limit: 5 })).toEqual([]);
    expect(await shared.renewLeases([{ runId, fence: 2 }], behind, behind + LEASE_MS)).toEqual([]);
    const refused = await shared.acquireLease({ runId, owner: RIVAL, ...times(ahead) });
    // Told on the clock of the one who asked.
    expect(refused).toMatchObject({ granted: false, lease: { owner: OWNER } });
    if (refused.granted) return;
    expect(refused.lease.expiresAt).toBeGreaterThan(ahead);
    expect(refused.lease.expiresAt).toBeLessThanOrEqual(ahead + LEASE_MS);
  });

  test("get a run whose lease has run out, and one that is read can be compared with the own clock", async () => {
    const { runId } = await takeRun(shared);
    const request = { runId, owner: OWNER, now: ahead, expiresAt: ahead + LEASE_MS };
    expect(await shared.acquireLease(request)).toMatchObject({ granted: true });
    expect((await shared.readLease(runId))?.expiresAt).toBeGreaterThan(Date.now());
    expect(await shared.acquireLease({ ...request, expiresAt: ahead })).toMatchObject({ granted: true });
    expect((await shared.readLease(runId))?.expiresAt).toBeLessThanOrEqual(Date.now());
    const rival = { runId, owner: RIVAL, now: behind, expiresAt: behind + LEASE_MS };
    expect(await shared.acquireLease(rival)).toMatchObject({ granted: true });
  });
});
