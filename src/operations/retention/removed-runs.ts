import type { SharedStore } from "../../store/shared-rows.js";

const KIND = "retention";
const NAME = "removed_runs";
const MAX_TRIES = 20;
/** How long a server may be down and still remove its files of these runs. */
const REMEMBERED_MS = 7 * 86_400_000;
const MAX_REMEMBERED = 20_000;

/** Runs as [id, when they were about to be removed]. */
type Removed = readonly (readonly [id: number, at: number])[];

/**
 * Records which runs will be removed. If the process dies, the list remains, and other servers of the store, each with
 * its own output folder, find it here. A listed run that still exists was kept after all.
 */
export async function noteRemovedRuns(
  store: SharedStore,
  ids: readonly number[],
  now: number,
): Promise<void> {
  if (ids.length === 0) return;
  for (let tries = 0; tries < MAX_TRIES; tries += 1) {
    const { removed, revision, at } = await read(store, now);
    const others = removed.filter(([id, since]) => since > at - REMEMBERED_MS && !ids.includes(id));
    const all = [...others, ...ids.map((id) => [id, at] as const)].slice(-MAX_REMEMBERED);
    if (await store.writeShared([{ kind: KIND, name: NAME, revision, data: JSON.stringify(all) }])) return;
  }
}

export async function listRemovedRuns(store: SharedStore, now: number): Promise<number[]> {
  return (await read(store, now)).removed.map(([id]) => id);
}

async function read(store: SharedStore, now: number) {
  const { rows, at } = await store.readShared(KIND, [NAME], now);
  const [row] = rows;
  return {
    removed: row === undefined ? [] : (JSON.parse(row.data) as Removed),
    revision: row?.revision ?? 0,
    at,
  };
}
