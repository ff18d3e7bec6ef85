import { Board, type BoardStore } from "../../run/engine/board.js";

const KIND = "retention";
const NAME = "removed_runs";
/** How long a server may be down and still remove its files of these runs. */
const REMEMBERED_MS = 7 * 86_400_000;
const MAX_REMEMBERED = 20_000;

/** Runs as [id, when they were about to be removed]. */
type Removed = readonly (readonly [id: number, at: number])[];

function open(store: BoardStore, now: number): Board<Removed> {
  return new Board(KIND, store, { now: () => now }, (row) => (row === undefined ? [] : JSON.parse(row.data)));
}

/**
 * Records which runs will be removed. If the process dies, the list remains, and other servers of the store, each with
 * its own output folder, find it here. A listed run that still exists was kept after all.
 */
export async function noteRemovedRuns(store: BoardStore, ids: readonly number[], now: number): Promise<void> {
  if (ids.length === 0) return;
  await open(store, now).changeOne(NAME, (removed, at) => {
    const others = removed.filter(([id, since]) => since > at - REMEMBERED_MS && !ids.includes(id));
    return [...others, ...ids.map((id) => [id, at] as const)].slice(-MAX_REMEMBERED);
  });
}

export async function listRemovedRuns(store: BoardStore, now: number): Promise<number[]> {
  const board = open(store, now);
  await board.read([NAME]);
  return board.get(NAME)!.map(([id]) => id);
}
