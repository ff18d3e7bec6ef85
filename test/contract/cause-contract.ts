import { describe, expect, test } from "vitest";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, putRun, runRow, type TakenRun, takeRun } from "./store-fixtures.js";

/** A key of somebody's may hold anything that is text. */
const CAUSE = "key/de\u0301ploy 'x' \"y\" %_\\";

export function causeContract(under: StoreUnderTest): void {
  const first = ({ runId, fence }: TakenRun, cause: string | null) =>
    appendTo({ runId, fence }, 1, { run: runRow(runId, { cause }) });

  describe("the cause of a run", () => {
    test("finds it, and no other", async () => {
      const { store } = under;
      const runId = await putRun(store, { cause: CAUSE });
      await putRun(store);
      await putRun(store, { cause: `${CAUSE} ` });
      expect(await store.readRun(runId)).toMatchObject({ cause: CAUSE });
      expect(await store.listRuns({ cause: CAUSE })).toEqual([runRow(runId, { cause: CAUSE })]);
      expect(await store.listRuns({ cause: CAUSE.toUpperCase() })).toEqual([]);
      const again = await under.reopen();
      expect((await again.listRuns({ cause: CAUSE })).map(({ id }) => id)).toEqual([runId]);
    });

    test("may be nothing, for any number of runs", async () => {
      const runs = [await putRun(under.store), await putRun(under.store)];
      expect((await under.store.listRuns({})).map(({ id }) => id)).toEqual(runs.reverse());
    });

    test("is had by one run alone: the second is refused, and nothing of its commit is there", async () => {
      const { store } = under;
      const holder = await putRun(store, { cause: CAUSE });
      const [late, other] = [await takeRun(store), await takeRun(store)];
      await expect(store.commit([first(other, null), first(late, CAUSE)])).rejects.toMatchObject({
        code: "CAUSE_TAKEN",
        message: `run ${holder} already has the cause ${CAUSE}`,
      });
      expect((await store.listRuns({})).map(({ id }) => id)).toEqual([holder]);
      await store.commit([first(other, null)]);
      await store.commit([first(late, "another")]);
    });

    test("is had by one run alone of two in one commit, and of many that are committed at once", async () => {
      const { store } = under;
      const pair = [await takeRun(store), await takeRun(store)];
      await expect(store.commit(pair.map((run) => first(run, CAUSE)))).rejects.toMatchObject({
        code: "CAUSE_TAKEN",
      });
      const runs = await Promise.all(Array.from({ length: 8 }, () => takeRun(store)));
      const results = await Promise.allSettled(runs.map((run) => store.commit([first(run, CAUSE)])));
      expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
      for (const result of results)
        if (result.status === "rejected") expect(result.reason).toMatchObject({ code: "CAUSE_TAKEN" });
      expect(await store.listRuns({ cause: CAUSE })).toHaveLength(1);
    });

    test("stays with it through its later commits", async () => {
      const { store } = under;
      const taken = await takeRun(store);
      await store.commit([first(taken, CAUSE)]);
      const ended = runRow(taken.runId, { cause: CAUSE, status: "failed", finished_at: 5 });
      await store.commit([appendTo(taken, 2, { run: ended })]);
      expect(await store.listRuns({ cause: CAUSE })).toEqual([ended]);
    });

    test("is free again once the run is deleted", async () => {
      const { store } = under;
      const runId = await putRun(store, { cause: CAUSE, status: "completed", finished_at: 5 });
      expect(await store.deleteRun(runId)).toBe(true);
      expect(await store.listRuns({ cause: CAUSE })).toEqual([]);
      const next = await putRun(store, { cause: CAUSE });
      expect((await store.listRuns({ cause: CAUSE })).map(({ id }) => id)).toEqual([next]);
    });
  });
}
