import { describe, expect, test } from "vitest";
import { type BookEntry, type BookRow, NOT_TRIAGED, sumRows, type Triage } from "../../src/core/book/book.js";
import { DUTY_LEASE } from "../../src/store/lease-rules.js";
import type { Store } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import { FAR_FUTURE, jobRow, mustAcquire, putRun, RIVAL } from "./store-fixtures.js";

const AT = 1_700_000_000_000;
const NOW = AT + 1_000_000;

export function bookRow(runId: number, n: number, changes: Partial<BookRow> = {}): BookRow {
  return {
    ...{ run_id: runId, n, at: AT + n, kind: "met", workflow: "release", step: "build", signature: "v1:aa" },
    ...{ job_id: runId * 10_000_000 + 1, attempt: 1, action: "retry", tried: [], first_in_run: n === 1 },
    ...{ flake_ms: null, code: "EXIT_1", class: "application", sample: "it said だるま", begun_at: AT },
    ...changes,
  };
}

function bookEntry(changes: Partial<BookEntry> = {}): BookEntry {
  return {
    ...{ workflow: "release", step: "build", signature: "v1:aa", code: "EXIT_1", class: "application" },
    ...{ sample: "no", first_seen: AT, last_seen: AT, occurrences: 1, runs: 1, rescues: {} },
    ...{ last_run: 1, last_job: 10_000_001, begun_at: AT, ...NOT_TRIAGED, revision: 0 },
    ...changes,
  };
}

const putFailures = (
  store: Store,
  rowsOf: (runId: number) => BookRow[],
  status: "failed" | "running" = "failed",
) => putRun(store, { status }, (runId) => ({ book: rowsOf(runId) }));

const duty = (store: Store): Promise<number> => mustAcquire(store, DUTY_LEASE.book);

async function rollUpAll(store: Store): Promise<void> {
  const rows = await store.listUnrolled(null, 1_000);
  const entries = [...sumRows(new Map(), rows).values()];
  expect(await store.rollUp({ fence: await duty(store), entries, rows })).toBe(true);
}

export function bookContract(under: StoreUnderTest): void {
  describe("the failure book", () => {
    rowsOfRuns(under);
    rolledUp(under);
    listed(under);
    triaged(under);
  });
}

function rowsOfRuns(under: StoreUnderTest): void {
  test("keeps the rows that came with a commit, as they were, also when it is opened again", async () => {
    const rows = (runId: number) => [
      bookRow(runId, 1, { sample: "a\0b", code: "X" }),
      bookRow(runId, 2, { kind: "ended", action: null, tried: ["retry", "goto"], flake_ms: 12, sample: "" }),
    ];
    const run = await putFailures(under.store, rows);
    const again = await under.reopen();
    const kept = await again.listUnrolled(null, 10);
    expect(kept).toEqual(rows(run).map((row) => ({ ...row, sample: kept[row.n - 1]!.sample })));
    expect(kept[0]!.sample).not.toContain("\0");
  });

  test("gives unrolled rows run by run and page by page", async () => {
    const first = await putFailures(under.store, (id) => [bookRow(id, 1), bookRow(id, 2)]);
    const second = await putFailures(under.store, (id) => [bookRow(id, 1)]);
    const page = await under.store.listUnrolled(null, 2);
    expect(page.map(({ run_id, n }) => [run_id, n])).toEqual([
      [first, 1],
      [first, 2],
    ]);
    const rest = await under.store.listUnrolled(page.at(-1)!, 2);
    expect(rest.map(({ run_id, n }) => [run_id, n])).toEqual([[second, 1]]);
  });

  test("finds rows by what they say, newest first", async () => {
    const { store } = under;
    const run = await putFailures(store, (id) => [
      bookRow(id, 1),
      bookRow(id, 2, { signature: "v1:bb", step: "test" }),
      bookRow(id, 3, { kind: "ended", flake_ms: 7 }),
    ]);
    const found = async (filter: Parameters<Store["listBookRows"]>[0]) =>
      (await store.listBookRows(filter)).map(({ n }) => n);
    expect(await found({})).toEqual([3, 2, 1]);
    expect(await found({ met: true, limit: 1 })).toEqual([2]);
    expect(await found({ signature: "v1:aa", met: true })).toEqual([1]);
    expect(await found({ flakes: true })).toEqual([3]);
    expect(await found({ since: AT + 2 })).toEqual([3, 2]);
    expect(await found({ workflow: "other" })).toEqual([]);
    expect(await found({ step: "test" })).toEqual([2]);
    expect(run).toBeGreaterThan(0);
  });

  test("counts the jobs that have ended, by workflow and step", async () => {
    const { store } = under;
    await putRun(store, {}, (id) => ({
      jobs: [
        jobRow(id, 1, { status: "completed", attempt_id: 1, step: "a" }),
        jobRow(id, 2, { status: "failed", attempt_id: 2, step: "a" }),
        jobRow(id, 3, { status: "skipped", step: "a" }),
        jobRow(id, 4, { status: "completed", attempt_id: 1, step: "b" }),
      ],
    }));
    await putRun(store, { created_at: AT - 1 }, (id) => ({
      jobs: [jobRow(id, 1, { status: "completed", attempt_id: 1, step: "a" })],
    }));
    const options = {
      max_loops: 3,
      retry_max: null,
      failure_routing: true,
      only: null,
      imported: true,
    } as const;
    await putRun(store, { options }, (id) => ({
      jobs: [jobRow(id, 1, { status: "completed", attempt_id: 1, step: "a" })],
    }));
    const counted = await store.countEndedJobs({ since: AT, until: AT + 1 });
    expect([...counted].sort((a, b) => (a.step < b.step ? -1 : 1))).toEqual([
      { workflow: "release", step: "a", jobs: 2 },
      { workflow: "release", step: "b", jobs: 1 },
    ]);
    expect(await store.countEndedJobs({ workflow: "x", since: 0, until: FAR_FUTURE })).toEqual([]);
    const ended = { status: "completed", attempt_id: 1, family: "f_{i}" } as const;
    await putRun(store, { workflow: "x" }, (id) => ({
      jobs: [jobRow(id, 1, { ...ended, step: "f_1" }), jobRow(id, 2, { ...ended, step: "f_2" })],
    }));
    expect(await store.countEndedJobs({ workflow: "x", since: 0, until: FAR_FUTURE })).toEqual([
      { workflow: "x", step: "f_{i}", jobs: 2 },
    ]);
  });
}

function rolledUp(under: StoreUnderTest): void {
  test("rolls rows up once, under the lease of the duty only", async () => {
    const { store } = under;
    await putFailures(store, (id) => [bookRow(id, 1), bookRow(id, 2)]);
    const rows = await store.listUnrolled(null, 10);
    const entries = [...sumRows(new Map(), rows).values()];
    const old = await duty(store);
    await store.releaseLease(DUTY_LEASE.book, old);
    expect(await store.rollUp({ fence: old, entries, rows })).toBe(false);
    const fence = await mustAcquire(store, DUTY_LEASE.book, RIVAL);
    expect(await store.rollUp({ fence: old, entries, rows })).toBe(false);
    expect(await store.listUnrolled(null, 10)).toHaveLength(2);
    expect(await store.rollUp({ fence, entries, rows })).toBe(true);
    expect(await store.listUnrolled(null, 10)).toEqual([]);
    // A call whose answer was lost is made again.
    expect(await store.rollUp({ fence, entries, rows })).toBe(true);
    const again = await under.reopen();
    expect(await again.readEntries(entries)).toEqual(entries);
    expect(entries[0]).toMatchObject({ occurrences: 2, runs: 1, first_seen: AT + 1, last_seen: AT + 2 });
    expect(await again.listBookRows({})).toHaveLength(2);
  });

  test("still counts what a run that is gone had met, whenever it went", async () => {
    const { store } = under;
    const early = await putFailures(store, (id) => [bookRow(id, 1)]);
    await rollUpAll(store);
    const late = await putFailures(store, (id) => [bookRow(id, 1, { signature: "v1:bb" })]);
    expect(await store.deleteRun(early)).toBe(true);
    expect(await store.deleteRun(late)).toBe(true);
    expect((await store.listUnrolled(null, 10)).map(({ run_id }) => run_id)).toEqual([late]);
    await rollUpAll(store);
    const listed = await store.listEntries({ now: NOW, limit: 10 });
    expect(listed.map(({ signature, occurrences }) => [signature, occurrences]).sort()).toEqual([
      ["v1:aa", 1],
      ["v1:bb", 1],
    ]);
    // Nothing is left of either run itself.
    expect(await store.listBookRows({})).toEqual([]);
  });
}

function listed(under: StoreUnderTest): void {
  test("lists entries newest first, page by page, by everything that a filter names", async () => {
    const { store } = under;
    const entries = [
      bookEntry({ signature: "v1:aa", last_seen: AT + 3 }),
      bookEntry({ signature: "v1:ab", last_seen: AT + 5, step: "test", class: "resource" }),
      bookEntry({ signature: "v1:ba", last_seen: AT + 5, first_seen: AT + 5, workflow: "だるま" }),
    ];
    await store.rollUp({ fence: await duty(store), entries, rows: [] });
    const list = async (filter: Partial<Parameters<Store["listEntries"]>[0]>) =>
      (await store.listEntries({ now: NOW, limit: 10, ...filter })).map(({ signature }) => signature);
    expect(await list({})).toEqual(["v1:ba", "v1:ab", "v1:aa"]);
    expect(await list({ limit: 1 })).toEqual(["v1:ba"]);
    expect(await list({ after: entries[2]! })).toEqual(["v1:ab", "v1:aa"]);
    expect(await list({ after: entries[1]! })).toEqual(["v1:aa"]);
    expect(await list({ signature: "v1:a" })).toEqual(["v1:ab", "v1:aa"]);
    expect(await list({ signature: "v1:aa" })).toEqual(["v1:aa"]);
    expect(await list({ workflow: "release", class: "resource" })).toEqual(["v1:ab"]);
    expect(await list({ step: "test" })).toEqual(["v1:ab"]);
    expect(await list({ since: AT + 5 })).toEqual(["v1:ba", "v1:ab"]);
    expect(await list({ newSince: AT + 5 })).toEqual(["v1:ba"]);
  });

  test("tells the states apart as of the time that is given", async () => {
    const { store } = under;
    const states: [string, Partial<Triage>, number][] = [
      ["v1:1", {}, AT],
      ["v1:2", { triage: "known" }, AT],
      ["v1:3", { triage: "muted", muted_until: NOW + 1 }, AT],
      ["v1:4", { triage: "muted", muted_until: NOW }, AT],
      ["v1:5", { triage: "resolved", triaged_at: AT + 5 }, AT + 5],
      ["v1:6", { triage: "resolved", triaged_at: AT + 5 }, AT + 6],
    ];
    const entries = states.map(([signature, , begun_at]) => bookEntry({ signature, begun_at }));
    await store.rollUp({ fence: await duty(store), entries, rows: [] });
    for (const [place, [, triage]] of states.entries())
      expect(await store.writeTriage(entries[place]!, { ...NOT_TRIAGED, ...triage })).toBe(true);
    const list = async (...of: NonNullable<Parameters<Store["listEntries"]>[0]["states"]>[number][]) =>
      (await store.listEntries({ now: NOW, limit: 10, states: of }))
        .map(({ signature }) => signature)
        .reverse();
    expect(await list("new")).toEqual(["v1:1"]);
    expect(await list("known")).toEqual(["v1:2", "v1:4"]);
    expect(await list("muted")).toEqual(["v1:3"]);
    expect(await list("resolved")).toEqual(["v1:5"]);
    expect(await list("regressed")).toEqual(["v1:6"]);
    expect(await list("new", "regressed")).toEqual(["v1:1", "v1:6"]);
    expect(await list()).toEqual([]);
  });
}

function triaged(under: StoreUnderTest): void {
  test("takes one of several words about a failure that were said at once, and no roll-up takes it back", async () => {
    const { store } = under;
    const entry = bookEntry({ occurrences: 4 });
    await store.rollUp({ fence: await duty(store), entries: [entry], rows: [] });
    const said = (owner: string): Triage => ({
      ...NOT_TRIAGED,
      triage: "known",
      note: "n\0",
      owner,
      link: "l",
    });
    const outcomes = await Promise.all(["a", "b", "c"].map((owner) => store.writeTriage(entry, said(owner))));
    expect(outcomes.filter(Boolean)).toHaveLength(1);
    const winner = ["a", "b", "c"][outcomes.indexOf(true)]!;
    const counted = { ...entry, occurrences: 5, last_seen: AT + 9 };
    await store.rollUp({ fence: await duty(store), entries: [counted], rows: [] });
    const [kept] = await (await under.reopen()).readEntries([entry]);
    expect(kept).toEqual({ ...counted, ...said(winner), note: kept!.note, revision: 1 });
    expect(kept!.note).not.toContain("\0");
  });

  test("keeps a word about a failure that is only in rows so far, and lists it once it is counted", async () => {
    const { store } = under;
    await putFailures(store, (id) => [bookRow(id, 1)]);
    const [entry] = [...sumRows(new Map(), await store.listUnrolled(null, 10)).values()];
    expect(await store.writeTriage(entry!, { ...NOT_TRIAGED, triage: "known" })).toBe(true);
    expect(await store.listEntries({ now: NOW, limit: 10 })).toEqual([]);
    const present = await store.readEntries([entry!]);
    const rows = await store.listUnrolled(null, 10);
    const byKey = new Map(
      present.map((each) => [JSON.stringify([each.workflow, each.step, each.signature]), each]),
    );
    const entries = [...sumRows(byKey, rows).values()];
    await store.rollUp({ fence: await duty(store), entries, rows });
    expect(await store.listEntries({ now: NOW, limit: 10 })).toEqual([
      { ...entry!, triage: "known", revision: 1 },
    ]);
  });
}
