import { DarumaError } from "../../core/errors/errors.js";
import { Board, type BoardStore } from "../../run/engine/board.js";
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

/** Passes by host. */
function open(store: BoardStore, now: number): Board<RetentionPass | null> {
  return new Board(KIND, store, { now: () => now }, (row) =>
    row === undefined ? null : JSON.parse(row.data),
  );
}

export async function notePass(
  store: BoardStore,
  {
    host,
    counts,
    error,
  }: { readonly host: string; readonly counts: RetentionCounts; readonly error: string | null },
  now: number,
): Promise<void> {
  const isEmpty = counts.runs + counts.logs + counts.artifacts === 0;
  await open(store, now).changeOne(host, (before, at) => ({
    ...{ host, at, error },
    removed: isEmpty ? (before?.removed ?? null) : { ...counts, at },
  }));
}

export async function listPasses(store: BoardStore, now: number): Promise<RetentionPass[]> {
  const board = open(store, now);
  await board.readAll();
  return board.entries().flatMap(([, pass]) => pass ?? []);
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
