import { describe, expect, test, vi } from "vitest";
import type { StoreChange } from "../../src/store/store.js";
import { HANG_MS } from "../support/hang.js";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, runRow, takeRun } from "./store-fixtures.js";

const WANTED = { managed: true, wanted: true };

export function changeContract(under: StoreUnderTest): void {
  toldChanges(under);
  listeners(under);

  describe("a ping", () => {
    test("is answered by a store that is open and refused by one that is closed", async () => {
      const { store } = under;
      await store.ping();
      await store.close();
      await expect(store.ping()).rejects.toMatchObject({ code: "STORE_FAILED" });
    });
  });
}

/** What is told from now on. It may be told twice and late, so tests wait for a change and never count. */
function listen(under: StoreUnderTest) {
  const changes: StoreChange[] = [];
  const stop = under.store.onChange((change) => changes.push(change));
  const until = (kind: StoreChange["kind"], runId: number) =>
    vi.waitFor(() => expect(changes).toContainEqual({ kind, runId }), HANG_MS);
  return { changes, stop, until };
}

function toldChanges(under: StoreUnderTest): void {
  describe("a listener is told", () => {
    test("of each run whose log grew, after the commit can be read", async () => {
      const { store } = under;
      const [one, two, silent] = [await takeRun(store), await takeRun(store), await takeRun(store)];
      const { changes, until } = listen(under);
      await store.commit([
        appendTo(one, 1),
        appendTo(two, 1),
        appendTo(silent, 1, { events: [], run: runRow(silent.runId) }),
      ]);
      await until("events", one.runId);
      await until("events", two.runId);
      expect(changes).not.toContainEqual({ kind: "events", runId: silent.runId });
    });

    test("of a run that wants an engine when its row says so, and when its lease is given back", async () => {
      const { store } = under;
      const [wanted, other] = [await takeRun(store), await takeRun(store)];
      const committed = listen(under);
      await store.commit([
        appendTo(wanted, 1, { run: runRow(wanted.runId, WANTED) }),
        appendTo(other, 1, { run: runRow(other.runId, { managed: true }) }),
      ]);
      await committed.until("wanted", wanted.runId);
      expect(committed.changes).not.toContainEqual({ kind: "wanted", runId: other.runId });
      const released = listen(under);
      await store.releaseLease(wanted.runId, wanted.fence);
      await released.until("wanted", wanted.runId);
    });

    test("of a command and of its answer", async () => {
      const { store } = under;
      const { changes, until } = listen(under);
      const id = await store.sendCommand({ runId: 5, key: "k", command: "{}", at: 1 });
      await until("inbox", 5);
      expect(changes).not.toContainEqual({ kind: "answer", runId: 5 });
      await store.answerCommand(id, "done");
      await until("answer", 5);
    });

    test("of a token that was revoked, and not of one that is made", async () => {
      const { store } = under;
      const { changes, until } = listen(under);
      const { id } = await store.putToken({ name: "t", role: "viewer", hash: "h", at: 1, expiresAt: null });
      expect(changes).toEqual([]);
      await store.revokeToken(id, 2);
      await until("revoked", 0);
    });

    test("nothing of what was refused", async () => {
      const { store } = under;
      const [good, stale] = [await takeRun(store), await takeRun(store)];
      const { changes, until } = listen(under);
      const refused = appendTo({ ...stale, fence: 99 }, 1, { run: runRow(stale.runId, WANTED) });
      await expect(store.commit([refused])).rejects.toMatchObject({ code: "LEASE_LOST" });
      await store.commit([appendTo(good, 1)]);
      await until("events", good.runId);
      expect(changes.filter(({ runId }) => runId === stale.runId)).toEqual([]);
    });
  });
}

function listeners(under: StoreUnderTest): void {
  describe("listeners", () => {
    test("are told each for itself, and one that has stopped no more", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const [first, second] = [listen(under), listen(under)];
      first.stop();
      await store.commit([appendTo(taken, 1)]);
      await second.until("events", taken.runId);
      expect(first.changes).toEqual([]);
      first.stop();
      await store.commit([appendTo(taken, 2)]);
    });

    test("that throw harm neither the write nor the other listeners", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const broken = vi.fn(() => {
        throw new Error("a listener's defect");
      });
      store.onChange(broken);
      const { until } = listen(under);
      await store.commit([appendTo(taken, 1, { run: runRow(taken.runId, WANTED) })]);
      await until("events", taken.runId);
      const id = await store.sendCommand({ runId: taken.runId, key: "k", command: "{}", at: 1 });
      await store.answerCommand(id, "done");
      await store.releaseLease(taken.runId, taken.fence);
      await until("answer", taken.runId);
      expect(broken).toHaveBeenCalled();
      expect(await store.readAnswer(id)).toBe("done");
    });

    test("may call the store", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const seen: number[] = [];
      store.onChange(({ kind, runId }) => {
        if (kind === "events") void store.readEvents(runId).then((events) => seen.push(events.length));
      });
      await store.commit([appendTo(taken, 1)]);
      await vi.waitFor(() => expect(seen).toContain(1), HANG_MS);
    });
  });
}
