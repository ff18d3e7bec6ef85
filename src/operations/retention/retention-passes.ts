import { DarumaError } from "../../core/errors/errors.js";
import { aboutSize, counted } from "../../core/text/amount-text.js";
import { Board, type BoardStore } from "../../run/engine/board.js";

const KIND = "retention_pass";

/** What a server last did to keep within the bounds of its settings. */
interface RetentionPass {
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

/** How much a pass removed. */
export interface RetentionCounts {
  readonly runs: number;
  readonly logs: number;
  readonly artifacts: number;
  readonly bytes: number;
}

/** `3 runs, the logs of 2 runs (1.2 GiB)`; null: nothing. */
export function countsText({ runs, logs, artifacts, bytes }: RetentionCounts): string | null {
  const parts = [
    ...(runs === 0 ? [] : [counted(runs, "run")]),
    ...(logs === 0 ? [] : [`the logs of ${counted(logs, "run")}`]),
    ...(artifacts === 0 ? [] : [`the artifacts of ${counted(artifacts, "run")}`]),
  ];
  return parts.length === 0 ? null : `${parts.join(", ")} (${aboutSize(bytes)})`;
}

export function countsOf(done: {
  readonly runs: readonly { readonly bytes: number }[];
  readonly logs: readonly { readonly bytes: number }[];
  readonly artifacts: readonly { readonly bytes: number }[];
}): RetentionCounts {
  const all = [...done.runs, ...done.logs, ...done.artifacts];
  return {
    runs: done.runs.length,
    logs: done.logs.length,
    artifacts: done.artifacts.length,
    bytes: all.reduce((sum, { bytes }) => sum + bytes, 0),
  };
}
