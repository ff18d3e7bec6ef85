import { describe, expect, test } from "vitest";
import type { StoreUnderTest } from "./store-contract.js";
import { appendTo, checkpointRow, jobRow, putRun, takeRun } from "./store-fixtures.js";

const HASH = "e".repeat(64);
const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);
/** The largest that is kept, of bytes that compress to nothing less. */
const LARGE_BYTES = 16 * 1_024 * 1_024;

export function checkpointContract(under: StoreUnderTest): void {
  describe("checkpoints", () => {
    test("come back by ordinal as they were written, the last version of each", {
      tags: ["M28"],
    }, async () => {
      const { store } = under;
      const run = await takeRun(store);
      const { runId } = run;
      const [first, second] = [
        checkpointRow(runId, 1),
        checkpointRow(runId, 2, { diff_hash: null, stored: false }),
      ];
      await store.commit([
        appendTo(run, 1, { jobs: [jobRow(runId, 1)], checkpoints: [second, first] }),
        appendTo(run, 2, { checkpoints: [{ ...first, superseded: true, commit_id: "f".repeat(40) }] }),
      ]);
      expect(await store.readCheckpoints(runId)).toEqual([
        { ...first, superseded: true, commit_id: "f".repeat(40) },
        second,
      ]);
      await store.commit([appendTo(run, 3, { checkpoints: [{ ...second, superseded: true }] })]);
      const again = await under.reopen();
      expect((await again.readCheckpoints(runId)).map(({ superseded }) => superseded)).toEqual([true, true]);
      expect(await again.readCheckpoints(runId + 1)).toEqual([]);
    });

    test("of another run are refused with the whole append", async () => {
      const { store } = under;
      const run = await takeRun(store);
      const foreign = appendTo(run, 1, { checkpoints: [checkpointRow(run.runId + 1, 1)] });
      await expect(store.commit([foreign])).rejects.toMatchObject({ code: "STORE_FAILED" });
      expect(await store.readRun(run.runId)).toBeNull();
    });
  });

  describe("patches", () => {
    test("come back byte for byte, and the first of one hash stays", async () => {
      const { store } = under;
      const [runId, other] = [await putRun(store), await putRun(store)];
      await store.putPatch({ runId, diffHash: HASH, bytes: ALL_BYTES });
      await store.putPatch({ runId, diffHash: HASH, bytes: Uint8Array.of(7) });
      await store.putPatch({ runId, diffHash: "other", bytes: new Uint8Array() });
      const again = await under.reopen();
      expect(Array.from((await again.readPatch(runId, HASH))!)).toEqual(Array.from(ALL_BYTES));
      expect(await again.readPatch(runId, "other")).toHaveLength(0);
      expect(await again.readPatch(other, HASH)).toBeNull();
      expect(await again.readPatch(runId, "none")).toBeNull();
    });

    test("may be as large as the limit", async () => {
      const runId = await putRun(under.store);
      const bytes = new Uint8Array(LARGE_BYTES).map((_, place) => (place * 2_654_435_761) >>> 24);
      await under.store.putPatch({ runId, diffHash: HASH, bytes });
      const found = await under.store.readPatch(runId, HASH);
      expect(Buffer.compare(found!, bytes)).toBe(0);
    });

    test("belong to a run that is on record", async () => {
      const put = under.store.putPatch({ runId: 99, diffHash: HASH, bytes: ALL_BYTES });
      await expect(put).rejects.toMatchObject({ code: "STORE_FAILED" });
    });
  });
}
