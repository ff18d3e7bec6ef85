import { describe, expect, test } from "vitest";
import type { JobRow, RunRow } from "../../src/core/model/rows.js";
import { searchText } from "../../src/core/text/search-text.js";
import type { JobFilter, RunFilter } from "../../src/store/filters.js";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, attemptRow, FAILURE, jobRow, mustAcquire, putRun } from "./store-fixtures.js";

const AT = 1_700_000_000_000;

export function searchContract(under: StoreUnderTest): void {
  const runs = async (filter: RunFilter) => (await under.store.listRuns(filter)).map(({ id }) => id);
  const jobs = async (filter: JobFilter) => (await under.store.listJobs(filter)).map(({ id }) => id);
  const job = (runId: number, n: number) => jobRow(runId, n).id;

  /** A run with two jobs, the second of which fails with this. */
  const putFailed = (message: string, signature: string, changes: Partial<RunRow> = {}) =>
    putRun(under.store, { search_text: "release", labels: null, status: "failed", ...changes }, (id) => ({
      jobs: [jobRow(id, 1, { step: "Fetch" }), jobRow(id, 2, { step: "build" })],
      attempts: [
        attemptRow(id, 1, 1, { status: "succeeded" }),
        attemptRow(id, 2, 1, {
          ...{ status: "failed", error: FAILURE, signature, search_text: searchText("EXIT_1:", message) },
        }),
      ],
    }));

  describe("what waits for somebody", () => {
    const put = (status: RunRow["status"], job: Partial<JobRow>, run: Partial<RunRow> = {}) =>
      putRun(under.store, { status, waiting: null, recoveries: null, ...run }, (id) => ({
        jobs: [
          jobRow(id, 1, { family: "step-{i}", attempt_id: 2, visit: 3, unanswered: true, ...job }),
          jobRow(id, 2),
        ],
        attempts: [
          attemptRow(id, 1, 1, { status: "failed", signature: "v1:old" }),
          attemptRow(id, 1, 2, { status: "failed", signature: "v1:new", finished_at: AT + 7 }),
        ],
      }));

    test("is held or asks in a run that is not over, or failed with its run, newest first", async () => {
      const held = await put("held", { status: "held" });
      const asks = await put("running", { status: "waiting" });
      const failed = await put("failed", { status: "failed" });
      await put("running", { status: "failed" });
      await put("failed", { status: "held" });
      await put("canceled", { status: "failed" });
      await put("held", { status: "held", unanswered: false });
      await put("held", { status: "held" }, { options: { imported: true } as never });
      const parent = { run_id: 1, job_id: 1 };
      await put("failed", { status: "failed" }, { parent });
      const dead = await put("failed", { status: "failed", dead_letter: true }, { parent });
      const found = await under.store.listUnanswered(100);
      expect(found.map(({ run_id }) => run_id)).toEqual([dead, failed, asks, held]);
      expect(found.at(-1)).toEqual({
        ...{ id: job(held, 1), run_id: held, workflow: "release", definition_hash: "hash-1", step: "step-1" },
        ...{ family: "step-{i}", scope: "root", status: "held", dead_letter: false, visit: 3, attempt_id: 2 },
        ...{ signature: "v1:new", at: AT + 7 },
        due_at: null,
      });
      expect(await under.store.listUnanswered(1)).toEqual([found[0]]);
    });

    test("and what recovered is found among runs", async () => {
      const both = await putRun(under.store, { waiting: 1, recoveries: 2 });
      const waits = await putRun(under.store, { waiting: 2, recoveries: 0 });
      await putRun(under.store, { waiting: null, recoveries: null });
      expect(await runs({ waiting: true })).toEqual([waits, both]);
      expect(await runs({ recovered: true })).toEqual([both]);
      expect(await runs({ recovered: true, waiting: true, beforeId: both })).toEqual([]);
    });
  });

  describe("a search for runs", () => {
    test("finds labels, all that are named, by value or whatever the value is", async () => {
      const put = (labels: RunRow["labels"]) => putRun(under.store, { labels });
      const first = await put({ team: "core", env: "prod" });
      const second = await put({ team: "core", env: "it's 100%_ök" });
      const third = await put({ team: "Core", "app/env": "prod" });
      await put(null);
      const by = (...labels: NonNullable<RunFilter["labels"]>) => runs({ labels });
      const env = (value: string | null) => ({ key: "env", value });
      expect(await by({ key: "team", value: "core" })).toEqual([second, first]);
      expect(await by({ key: "team", value: "core" }, env("prod"))).toEqual([first]);
      expect(await by(env("it's 100%_ök"))).toEqual([second]);
      expect(await by(env("it's 100%ök"))).toEqual([]);
      expect(await by(env(null))).toEqual([second, first]);
      expect(await by({ key: "team", value: null })).toEqual([third, second, first]);
      expect(await by({ key: "tea_", value: null })).toEqual([]);
    });

    test("keeps the labels that a run began with, and forgets them with the run", async () => {
      const { store } = under;
      const id = await putRun(store, { labels: { a: "1" } });
      const fence = await mustAcquire(store, id);
      const [kept] = await store.listRuns({});
      await store.commit([
        appendTo({ runId: id, fence }, 2, { run: { ...kept!, status: "completed", labels: { a: "1" } } }),
      ]);
      await store.releaseLease(id, fence);
      const again = await under.reopen();
      const found = await again.listRuns({ labels: [{ key: "a", value: "1" }] });
      expect(found).toEqual([{ ...kept!, status: "completed", labels: { a: "1" } }]);
      expect(await again.deleteRun(id)).toBe(true);
      expect(await again.listRuns({ labels: [{ key: "a", value: null }] })).toEqual([]);
    });

    test("finds when they were created, from a time on and before another", async () => {
      const ids: number[] = [];
      // The last one was imported: it is older than its number says.
      for (const created_at of [AT, AT + 10, AT + 20, AT + 5])
        ids.push(await putRun(under.store, { created_at }));
      const [a, b, c, imported] = ids;
      expect(await runs({ since: AT + 10 })).toEqual([c, b]);
      expect(await runs({ until: AT + 10 })).toEqual([imported, a]);
      expect(await runs({ since: AT + 5, until: AT + 20 })).toEqual([imported, b]);
      expect(await runs({ since: AT + 5, beforeId: imported!, limit: 1 })).toEqual([c]);
      expect(await runs({ since: AT + 21 })).toEqual([]);
    });

    test("finds a text in their own words and in those of failed attempts, none of its signs having a meaning", async () => {
      const put = (search_text: string) => putRun(under.store, { search_text });
      const named = await put(searchText("Nightly Übersicht", "team=core"));
      const odd = await put(searchText("100%_of.* [a-z]\\ 'quoted'"));
      const failed = await putFailed("Connection\n  refused by ß-host", "v1:aa11");
      const find = (text: string) => runs({ text: searchText(text) });
      expect(await find("übersicht")).toEqual([named]);
      expect(await find("TEAM=CORE")).toEqual([named]);
      expect(await find("connection refused")).toEqual([failed]);
      expect(await find("exit_1: conn")).toEqual([failed]);
      for (const text of ["100%_of", ".*", "[a-z]\\", "'quoted'", "%"])
        expect(await find(text)).toEqual([odd]);
      for (const text of ["1__%", "n.ghtly", "night%", "^nightly"]) expect(await find(text)).toEqual([]);
      expect(await runs({ text: "e", status: ["failed"] })).toEqual([failed]);
    });

    test("finds what an attempt failed of, by the whole signature or how it begins", async () => {
      const first = await putFailed("x", "v1:aa11");
      const second = await putFailed("y", "v1:aa22");
      expect(await runs({ signature: "v1:aa11" })).toEqual([first]);
      expect(await runs({ signature: "v1:aa" })).toEqual([second, first]);
      expect(await runs({ signature: "v1:a_" })).toEqual([]);
      expect(await runs({ signature: "aa" })).toEqual([]);
    });

    test("demands everything at once, page by page, whatever comes meanwhile", async () => {
      const ids: number[] = [];
      const put = async () =>
        ids.unshift(await putFailed("boom", "v1:cc", { labels: { n: "1" }, created_at: AT }));
      for (let n = 0; n < 5; n += 1) await put();
      await putFailed("boom", "v1:cc", { labels: { n: "2" } });
      const filter: RunFilter = {
        ...{
          status: ["failed"],
          workflow: "release",
          since: AT,
          until: AT + 1,
          text: "boom",
          signature: "v1:cc",
        },
        labels: [{ key: "n", value: "1" }],
        limit: 2,
      };
      const page = await runs(filter);
      expect(page).toEqual(ids.slice(0, 2));
      await put();
      expect(await runs({ ...filter, beforeId: page.at(-1)! })).toEqual(ids.slice(3, 5));
      expect(await runs({ ...filter, beforeId: ids.at(-2)! })).toEqual(ids.slice(-1));
      expect(await runs({ ...filter, workflow: "other" })).toEqual([]);
    });
  });

  describe("a search for jobs", () => {
    test("finds them by what their runs have", async () => {
      const early = await putFailed("x", "v1:a", { created_at: AT, labels: { team: "core" } });
      const late = await putFailed("x", "v1:a", { created_at: AT + 9, workflow: "nightly" });
      const both = (id: number) => [job(id, 1), job(id, 2)];
      expect(await jobs({ labels: [{ key: "team", value: "core" }] })).toEqual(both(early));
      expect(await jobs({ workflow: "nightly" })).toEqual(both(late));
      expect(await jobs({ since: AT, until: AT + 9 })).toEqual(both(early));
      expect(await jobs({ since: AT + 1 })).toEqual(both(late));
      expect(await jobs({ runIds: [late, 999] })).toEqual(both(late));
      expect(await jobs({ runIds: [] })).toEqual([]);
      expect(await jobs({ since: AT, limit: 3 })).toEqual([...both(early), job(late, 1)]);
      expect(await jobs({ since: AT, limit: 3, afterId: job(early, 2) })).toEqual(both(late));
    });

    test("finds the failures of their own attempts, and the names of steps", async () => {
      const first = await putFailed("no space left on device", "v1:aa11");
      const second = await putFailed("killed", "v1:bb22", { labels: { team: "core" } });
      expect(await jobs({ signature: "v1:aa" })).toEqual([job(first, 2)]);
      expect(await jobs({ text: "space left" })).toEqual([job(first, 2)]);
      expect(await jobs({ text: "fetch" })).toEqual([job(first, 1), job(second, 1)]);
      expect(await jobs({ text: "f_tch" })).toEqual([]);
      expect(await jobs({ text: "killed", runId: first })).toEqual([]);
      expect(await jobs({ text: "killed", labels: [{ key: "team", value: null }] })).toEqual([
        job(second, 2),
      ]);
    });
  });
}
