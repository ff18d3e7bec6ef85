import type { Store, StoredSnapshot } from "../store.js";
import type { Database } from "./database.js";

type Found = Omit<StoredSnapshot, "runId" | "bytes"> & { readonly bytes: string };

/** Bytes are text on the way: the driver knows none here. */
export function createSnapshotVerbs(db: Database): Pick<Store, "putSnapshot" | "readSnapshot"> {
  return {
    async putSnapshot({ runId, seq, version, sha256, bytes }) {
      await db.list(
        `INSERT INTO snapshot (run_id, seq, version, sha256, bytes) VALUES ($1, $2, $3, $4, decode($5, 'base64'))
         ON CONFLICT (run_id) DO UPDATE
           SET seq = excluded.seq, version = excluded.version, sha256 = excluded.sha256, bytes = excluded.bytes`,
        ...[runId, seq, version, sha256, Buffer.from(bytes).toString("base64")],
      );
    },
    async readSnapshot(runId) {
      const [found] = await db.list<Found>(
        "SELECT seq, version, sha256, encode(bytes, 'base64') AS bytes FROM snapshot WHERE run_id = $1",
        runId,
      );
      if (found === undefined) return null;
      return { ...found, runId, bytes: Uint8Array.from(Buffer.from(found.bytes, "base64")) };
    },
  };
}
