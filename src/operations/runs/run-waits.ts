import type { z } from "zod";
import type { RunRow } from "../../core/model/rows.js";
import { placeWait } from "../../engine/places/place-text.js";
import type { Store } from "../../store/store.js";
import type { waitsForPlace } from "./run-shapes.js";

export type WaitsForPlace = NonNullable<z.output<typeof waitsForPlace>>;

/** What the runs among these wait for that have not begun, by run. Groups are read once, and only where one waits. */
export async function waitsOf(
  store: Store,
  runs: readonly RunRow[],
  now: number,
): Promise<ReadonlyMap<number, WaitsForPlace>> {
  const waiting = runs.filter(
    ({ concurrency, started_at, finished_at }) =>
      concurrency !== null && started_at === null && finished_at === null,
  );
  if (waiting.length === 0) return new Map();
  const groups = [...new Set(waiting.map(({ concurrency }) => concurrency!.group))];
  const members = await store.readGroups(groups, now);
  const found = new Map<number, WaitsForPlace>();
  for (const { id, concurrency } of waiting) {
    const own = members.find(({ runId }) => runId === id);
    if (own === undefined) continue;
    const beside = members.filter((each) => each.concurrency.group === concurrency!.group);
    const { position, runs: others, text } = placeWait(own, beside);
    found.set(id, { kind: "place", position, runs: [...others], text });
  }
  return found;
}
