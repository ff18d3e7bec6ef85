import { describe, expect, test } from "vitest";
import type { Notice } from "../../src/core/notices/notice.js";
import type { NoticeChange, NoticeClaim } from "../../src/store/outbox-rows.js";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, attemptRow, jobRow, putRun, runRow, takeRun } from "./store-fixtures.js";

const AT = 1_700_000_000_000;
const LEASE_MS = 60_000;

function notice(n: number, changes: Partial<Notice> = {}): Notice {
  return {
    ...{ id: `msg_${String(n).padStart(4, "0")}`, at: AT + n, kind: "held", channel: "ops" },
    ...{
      thing: JSON.stringify(["step", "だるま", "build", "v1:aa"]),
      run_id: 1,
      workflow: "だるま",
      step: "build",
    },
    ...{ signature: "v1:aa", condition: "notice.kind === 'held'", state: "new", told: null, tries: 0 },
    facts: { recovery: { when: null }, lines: ["ä \u0000 \u{1f600}"], job_id: 10_000_001, attempt: 1 },
    ...{ error: null, next_at: 0, settled_at: null },
    ...changes,
  } as Notice;
}

function claim(lease: string, changes: Partial<NoticeClaim> = {}): NoticeClaim {
  return { lease, now: AT, leaseMs: LEASE_MS, limit: 10, state: "new", channels: ["ops"], ...changes };
}

function settled(id: string, lease: string, changes: Partial<NoticeChange> = {}): NoticeChange {
  return {
    ...{ id, lease, state: "delivered", told: null, tries: 1, error: null, settled_at: AT, delayMs: 0 },
    ...changes,
  } as NoticeChange;
}

export function outboxContract(under: StoreUnderTest): void {
  const put = (...notices: Notice[]) => under.store.writeShared([], { now: AT, notices });
  const idsOf = (notices: readonly Notice[]) => notices.map(({ id }) => Number(id.slice(4)));

  describe("the outbox", () => {
    test("keeps what is written beside shared rows, once, also when the store is opened again", async () => {
      const told = { as: "again", count: 10, since: AT } as const;
      const [first, second] = [notice(1), notice(2, { run_id: null, workflow: null, condition: null, told })];
      expect(await put(first, second)).toBe(true);
      expect(await put(notice(1, { channel: "other" }))).toBe(true);
      const again = await under.reopen();
      expect(await again.listNotices({ limit: 10 })).toEqual([second, first]);
    });

    test("keeps what a run commits with its events, or nothing of both", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      const own = notice(1, { run_id: taken.runId });
      const first = appendTo(taken, 1, { outbox: [own] });
      await expect(store.commit([{ ...first, fence: taken.fence + 1 }])).rejects.toThrow();
      expect(await store.listNotices({ limit: 10 })).toEqual([]);
      await store.commit([first]);
      expect(await store.listNotices({ limit: 10 })).toEqual([own]);
      const stranger = appendTo(taken, 2, { outbox: [notice(2, { run_id: taken.runId + 1 })] });
      await expect(store.commit([stranger])).rejects.toMatchObject({ code: "STORE_FAILED" });
      await store.commit([appendTo(taken, 2)]);
      expect(await store.listNotices({ limit: 10 })).toEqual([own]);
    });

    test("is listed newest first, by channel, state and run, page by page", async () => {
      await put(...[3, 1, 2].map((n) => notice(n)), notice(4, { channel: "mail", state: "due", run_id: 2 }));
      const { store } = under;
      expect(idsOf(await store.listNotices({ limit: 2 }))).toEqual([4, 3]);
      expect(idsOf(await store.listNotices({ limit: 9, after: notice(3) }))).toEqual([2, 1]);
      expect(idsOf(await store.listNotices({ limit: 9, channels: ["mail"] }))).toEqual([4]);
      expect(idsOf(await store.listNotices({ limit: 9, states: ["new"] }))).toEqual([3, 2, 1]);
      expect(idsOf(await store.listNotices({ limit: 9, runIds: [2, 7] }))).toEqual([4]);
      expect(await store.listNotices({ limit: 9, runIds: [] })).toEqual([]);
    });

    test("gives each notice to one of those who ask at once, oldest first", async () => {
      await put(...Array.from({ length: 40 }, (_, n) => notice(n + 1)));
      const claimed = await Promise.all(
        Array.from({ length: 8 }, (_, n) => under.store.claimNotices(claim(`c${n}`, { limit: 3 }))),
      );
      const taken = claimed.flatMap(idsOf);
      expect(new Set(taken).size).toBe(taken.length);
      for (const ids of claimed.map(idsOf)) expect(ids).toEqual([...ids].sort((a, b) => a - b));
      const rest = await under.store.claimNotices(claim("rest", { limit: 99 }));
      expect([...taken, ...idsOf(rest)].sort((a, b) => a - b)).toEqual(
        Array.from({ length: 40 }, (_, n) => n + 1),
      );
      expect(await under.store.listNoticeLeases()).toEqual(
        [...new Set([...claimed.flatMap((each, n) => (each.length === 0 ? [] : [`c${n}`])), "rest"])].sort(),
      );
    });

    test("gives what is of the channel, the state and the runs, and due by now", async () => {
      const { store } = under;
      await put(
        notice(1),
        notice(2, { channel: "mail" }),
        notice(3, { state: "due" }),
        notice(4, { run_id: 2 }),
      );
      await put(
        notice(5, { next_at: AT + 500 }),
        notice(6, { state: "delivered" }),
        notice(7, { run_id: null }),
      );
      expect(idsOf(await store.claimNotices(claim("a", { runIds: [2] })))).toEqual([4]);
      expect(idsOf(await store.claimNotices(claim("b", { state: "due" })))).toEqual([3]);
      expect(idsOf(await store.claimNotices(claim("c")))).toEqual([1, 7]);
      expect(idsOf(await store.claimNotices(claim("d", { now: AT + 500 })))).toEqual([5]);
      expect(idsOf(await store.claimNotices(claim("e", { channels: [] })))).toEqual([]);
      expect(idsOf(await store.claimNotices(claim("f", { channels: ["mail"] })))).toEqual([2]);
    });

    test("gives a notice again when its lease has run out, or is of somebody who is gone", async () => {
      const { store } = under;
      await put(notice(1), notice(2));
      await store.claimNotices(claim("a", { limit: 1 }));
      await store.claimNotices(claim("b", { limit: 1 }));
      expect(await store.claimNotices(claim("c", { now: AT + LEASE_MS - 1 }))).toEqual([]);
      expect(idsOf(await store.claimNotices(claim("c", { deadLeases: ["b"] })))).toEqual([2]);
      expect(idsOf(await store.claimNotices(claim("d", { now: AT + LEASE_MS })))).toEqual([1, 2]);
      // Whoever had it before has it no longer.
      expect(await store.writeShared([], { now: AT, settled: [settled(notice(1).id, "a")] })).toBe(false);
      expect(await store.writeShared([], { now: AT, settled: [settled(notice(1).id, "d")] })).toBe(true);
    });

    test("settles notices with a shared row, all or nothing", async () => {
      const { store } = under;
      await put(notice(1), notice(2));
      await store.claimNotices(claim("a"));
      const row = { kind: "episode", name: "e", revision: 0, data: "1" };
      const both = [settled(notice(1).id, "a"), settled(notice(2).id, "a", { state: "due", delayMs: 700 })];
      const stale = [both[0]!, settled(notice(2).id, "b")];
      expect(await store.writeShared([row], { now: AT, settled: stale })).toBe(false);
      expect(await store.writeShared([{ ...row, revision: 3 }], { now: AT, settled: both })).toBe(false);
      expect((await store.readShared("episode", null, AT)).rows).toEqual([]);
      expect((await store.listNotices({ limit: 9 })).map(({ state }) => state)).toEqual(["new", "new"]);
      const told = { as: "first", count: 1, since: AT } as const;
      const changes = [{ ...both[0]!, told, error: "だめ" }, both[1]!];
      expect(await store.writeShared([row], { now: AT, settled: changes, notices: [notice(3)] })).toBe(true);
      expect((await store.readShared("episode", null, AT)).rows).toEqual([{ ...row, revision: 1 }]);
      expect(await store.listNotices({ limit: 9 })).toEqual([
        notice(3),
        notice(2, { state: "due", tries: 1, settled_at: AT, next_at: AT + 700 }),
        notice(1, { state: "delivered", tries: 1, settled_at: AT, told, error: "だめ", next_at: AT }),
      ]);
      expect(await store.listNoticeLeases()).toEqual([]);
      expect(await store.claimNotices(claim("c", { state: "due", now: AT + 699 }))).toEqual([]);
      expect(idsOf(await store.claimNotices(claim("c", { state: "due", now: AT + 700 })))).toEqual([2]);
    });

    test("forgets what is old, and shared rows that nobody has changed since", async () => {
      const { store } = under;
      await put(notice(1), notice(2), notice(3));
      expect(await store.pruneNotices(AT + 3)).toBe(2);
      expect(idsOf(await store.listNotices({ limit: 9 }))).toEqual([3]);
      const rows = ["a", "b"].map((name) => ({ kind: "episode", name, revision: 0, data: "1" }));
      await store.writeShared(rows);
      await store.writeShared([{ ...rows[1]!, revision: 1, data: "2" }]);
      await store.dropShared(rows.map(({ kind, name }) => ({ kind, name, revision: 1 })));
      expect((await store.readShared("episode", null, AT)).rows.map(({ name }) => name)).toEqual(["b"]);
    });

    test("finds when the newest attempt began with which a step completed", async () => {
      const { store } = under;
      const find = (since: number, step = "build") =>
        store.findCompletion({ workflow: "release", step, since });
      expect(await find(0)).toBeNull();
      const completed = (runId: number, at: number, finishedAt: number | null) => ({
        run: runRow(runId, { finished_at: finishedAt }),
        jobs: [jobRow(runId, 1, { step: "build", status: "completed", attempt_id: 2 })],
        attempts: [
          attemptRow(runId, 1, 1, { status: "failed", started_at: at + 900 }),
          attemptRow(runId, 1, 2, { status: "succeeded", started_at: at }),
        ],
      });
      await putRun(store, {}, (runId) => completed(runId, AT + 5, AT + 6));
      await putRun(store, {}, (runId) => completed(runId, AT + 3, null));
      await putRun(store, {}, (runId) => ({
        ...completed(runId, AT + 70, null),
        run: runRow(runId, { options: { ...runRow(runId).options, imported: true } }),
      }));
      await putRun(store, {}, (runId) => ({
        ...completed(runId, AT + 80, null),
        jobs: [jobRow(runId, 1, { step: "build", status: "running", attempt_id: 2 })],
      }));
      await putRun(store, {}, (runId) => ({
        ...completed(runId, AT + 90, null),
        run: runRow(runId, { workflow: "other" }),
      }));
      expect([await find(AT), await find(AT + 4), await find(AT + 5)]).toEqual([AT + 5, AT + 5, null]);
      expect(await find(AT, "test")).toBeNull();
      await putRun(store, {}, (runId) => ({
        ...completed(runId, AT + 95, null),
        jobs: [jobRow(runId, 1, { step: "test_1", family: "test_{i}", status: "completed", attempt_id: 2 })],
      }));
      // Of a family it is any of its jobs.
      expect([await find(AT, "test_{i}"), await find(AT, "test_1")]).toEqual([AT + 95, null]);
    });
  });
}
