import type { StoredPatch, StoredSnapshot } from "../store.js";
import type { Dialect } from "./dialect.js";
import { row, rows, type Verb } from "./query.js";

type Stored = Uint8Array | string | null;

export function* putPatch({ bytes }: Dialect, patch: StoredPatch): Verb<void> {
  yield* rows(
    `INSERT INTO patch (run_id, diff_hash, bytes) VALUES ($1, $2, ${bytes.write("$3")}) ON CONFLICT DO NOTHING`,
    ...[patch.runId, patch.diffHash, patch.bytes],
  );
}

export function* readPatch({ bytes }: Dialect, runId: number, diffHash: string): Verb<Uint8Array | null> {
  const found = yield* row<{ bytes: Stored }>(
    `SELECT ${bytes.read("bytes")} AS bytes FROM patch WHERE run_id = $1 AND diff_hash = $2`,
    ...[runId, diffHash],
  );
  return found === null ? null : bytesOf(found.bytes);
}

export function* putSnapshot({ bytes }: Dialect, snapshot: StoredSnapshot): Verb<void> {
  const { runId, seq, version, sha256 } = snapshot;
  yield* rows(
    `INSERT INTO snapshot (run_id, seq, version, sha256, bytes) VALUES ($1, $2, $3, $4, ${bytes.write("$5")})
     ON CONFLICT (run_id) DO UPDATE
       SET seq = excluded.seq, version = excluded.version, sha256 = excluded.sha256, bytes = excluded.bytes`,
    ...[runId, seq, version, sha256, snapshot.bytes],
  );
}

export function* readSnapshot({ bytes }: Dialect, runId: number): Verb<StoredSnapshot | null> {
  const found = yield* row<Omit<StoredSnapshot, "runId" | "bytes"> & { bytes: Stored }>(
    `SELECT seq, version, sha256, ${bytes.read("bytes")} AS bytes FROM snapshot WHERE run_id = $1`,
    runId,
  );
  return found === null ? null : { ...found, runId, bytes: bytesOf(found.bytes) };
}

/** Decodes bytes. PostgreSQL's driver has no bytes here, and some releases of Node return empty bytes as null. */
function bytesOf(stored: Stored): Uint8Array {
  if (typeof stored === "string") return Uint8Array.from(Buffer.from(stored, "base64"));
  return stored ?? new Uint8Array();
}
