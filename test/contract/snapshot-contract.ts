import { describe, expect, test } from "vitest";
import type { StoredSnapshot } from "../../src/store/store.js";
import type { StoreUnderTest } from "./store-contract.js";
import { putRun } from "./store-fixtures.js";

const ALL_BYTES = Uint8Array.from({ length: 256 }, (_, byte) => byte);
const LARGE_BYTES = 24 * 1_024 * 1_024;

function snapshotOf(runId: number, part: Partial<StoredSnapshot> = {}): StoredSnapshot {
  return { runId, seq: 7, version: "v1", sha256: "a".repeat(64), bytes: ALL_BYTES, ...part };
}

/** Some stores answer with a buffer, which is bytes too. */
function plain(snapshot: StoredSnapshot | null): unknown {
  return snapshot === null ? null : { ...snapshot, bytes: Array.from(snapshot.bytes) };
}

export function snapshotContract(under: StoreUnderTest): void {
  describe("snapshots", () => {
    test("come back byte for byte; a run has only its last one", async () => {
      const { store } = under;
      const [runId, other, none] = [await putRun(store), await putRun(store), await putRun(store)];
      await store.putSnapshot(snapshotOf(runId, { seq: 3, bytes: Uint8Array.of(1) }));
      await store.putSnapshot(snapshotOf(runId));
      await store.putSnapshot(snapshotOf(other, { version: "v2", bytes: new Uint8Array() }));
      const again = await under.reopen();
      expect(plain(await again.readSnapshot(runId))).toEqual(plain(snapshotOf(runId)));
      expect(plain(await again.readSnapshot(other))).toEqual(
        plain(snapshotOf(other, { version: "v2", bytes: new Uint8Array() })),
      );
      expect(await again.readSnapshot(none)).toBeNull();
    });

    test("may be large", async () => {
      const runId = await putRun(under.store);
      const bytes = new Uint8Array(LARGE_BYTES).map((_, place) => (place * 2_654_435_761) >>> 24);
      await under.store.putSnapshot(snapshotOf(runId, { bytes }));
      expect(Buffer.compare((await under.store.readSnapshot(runId))!.bytes, bytes)).toBe(0);
    });

    test("belong to a run that is on record", async () => {
      const put = under.store.putSnapshot(snapshotOf(99));
      await expect(put).rejects.toMatchObject({ code: "STORE_FAILED" });
      expect(await under.store.readSnapshot(99)).toBeNull();
    });
  });
}
