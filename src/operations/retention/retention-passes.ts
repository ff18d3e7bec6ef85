import { DarumaError } from "../../core/errors/errors.js";
import type { SharedStore } from "../../store/shared-rows.js";
import type { RetentionCounts } from "./retention-words.js";

const KIND = "retention_pass";

/** What a server last did to keep within the bounds of its settings. */
export interface RetentionPass {
  readonly host: string;
  /** On the store's clock. */
  readonly at: number;
  /** The last pass that removed something. */
  readonly removed: (RetentionCounts & { readonly at: number }) | null;
  readonly error: string | null;
}

/** One row for each host; a row that somebody else has just written says as much. */
export async function notePass(
  store: SharedStore,
  {
    host,
    counts,
    error,
  }: { readonly host: string; readonly counts: RetentionCounts; readonly error: string | null },
  now: number,
): Promise<void> {
  const { rows, at } = await store.readShared(KIND, [host], now);
  const [row] = rows;
  const before = row === undefined ? null : (JSON.parse(row.data) as RetentionPass);
  const isEmpty = counts.runs + counts.logs + counts.artifacts === 0;
  const pass: RetentionPass = {
    host,
    at,
    removed: isEmpty ? (before?.removed ?? null) : { ...counts, at },
    error,
  };
  await store.writeShared([
    { kind: KIND, name: host, revision: row?.revision ?? 0, data: JSON.stringify(pass) },
  ]);
}

export async function listPasses(store: SharedStore, now: number): Promise<RetentionPass[]> {
  const { rows } = await store.readShared(KIND, null, now);
  return rows.map(({ data }) => JSON.parse(data) as RetentionPass);
}

export function noRules(): DarumaError {
  return new DarumaError("INVALID_INPUT", "nothing says what to remove", {
    hint: {
      typed:
        "Add --older-than 30d, --keep-last 100 or --max-size 10g, or set `retention` in the settings file.",
      asked: "Give older_than, keep_last or max_size, or set `retention` in the server's settings.",
    },
  });
}
