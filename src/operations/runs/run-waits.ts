import type { RunRow, RunStatus } from "../../core/model/rows.js";
import { placeWait } from "../../run/engine/places/place-text.js";
import type { Store } from "../../store/store.js";
import { listHolds } from "../../tell/holds.js";
import { listNames, nameOf } from "../../tell/lookup/job-name.js";
import type { Answer } from "../operation.js";
import type { waitsForPlace } from "./run-shapes.js";

export type WaitsForPlace = NonNullable<Answer<typeof waitsForPlace>>;

/** What the runs among these wait for, by run: a place before they begin, or a child run that somebody has to decide about. */
export async function waitsOf(
  store: Store,
  runs: readonly RunRow[],
  now: number,
): Promise<ReadonlyMap<number, WaitsForPlace>> {
  const found = new Map(await placesOf(store, runs, now));
  for (const run of runs) {
    if (run.status !== "running") continue;
    const { ids, text } = await childrenWaiting(store, run.id);
    if (ids.length > 0) found.set(run.id, { kind: "child", position: null, runs: ids, text });
  }
  return found;
}

const OPEN: readonly RunStatus[] = ["running", "held", "paused"];

async function childrenWaiting(store: Store, runId: number): Promise<{ ids: number[]; text: string }> {
  const ids: number[] = [];
  const told: string[] = [];
  const look = async (above: number): Promise<void> => {
    for (const child of await store.listRuns({ parentRun: above, status: OPEN })) {
      if (child.status === "running" && (child.waiting ?? 0) === 0) await look(child.id);
      else {
        const holds = await listHolds(store, { runId: child.id });
        const names = listNames(holds, ({ step, scope }) => nameOf(step, scope));
        const how = child.status === "running" ? "asks" : child.status;
        ids.push(child.id);
        told.push(`run ${child.id}, ${how}${names === "" ? "" : `: ${names}`}`);
      }
    }
  };
  await look(runId);
  return { ids, text: `waits for ${listNames(told, (each) => each)}` };
}

/** Groups are read once, and only where one waits. */
async function placesOf(
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
    found.set(id, { kind: "place", position, runs: others, text });
  }
  return found;
}
