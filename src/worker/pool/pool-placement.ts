import { hasTags } from "../local-room.js";
import type { Needs, Place, Worker } from "../worker.js";
import { type PoolWorker, runtimeOf } from "./pool-worker.js";

/** The worker in the server's own process. */
export interface LocalPart extends Worker {
  readonly name: string;
  /** May be 0: child runs are its business all the same. */
  readonly slots: number;
  readonly used: number;
  readonly tags: readonly string[];
}

/** Room here or there. */
export interface PoolPlace extends Place {
  readonly local?: Place;
  readonly remote?: { readonly worker: PoolWorker; readonly needs: Needs };
}

/** The server's own worker first, then the remote one with the most room; `ratherNot` after all others. */
export function choosePlace(
  needs: Needs,
  local: LocalPart,
  workers: readonly PoolWorker[],
  elapsed: number,
  ratherNot: string | null = null,
): PoolPlace | "full" | null {
  if (ratherNot === local.name && !needs.usesWorkspace && needs.slots > 0) {
    const { best } = findRoomiest(needs, workers, elapsed, null);
    if (best !== null) return reserveAt(best, needs);
  }
  const atHome = placeAtHome(needs, local);
  if (atHome !== null && atHome !== "full") return atHome;
  // Its files lie here, and nowhere else; others may well have room for what comes after it.
  if (needs.usesWorkspace) return null;
  const { best, hasAnyRoom } = findRoomiest(needs, workers, elapsed, ratherNot);
  if (best === null) return hasAnyRoom || atHome === null ? null : "full";
  return reserveAt(best, needs);
}

function findRoomiest(
  needs: Needs,
  workers: readonly PoolWorker[],
  elapsed: number,
  ratherNot: string | null,
): { readonly best: PoolWorker | null; readonly hasAnyRoom: boolean } {
  let best: PoolWorker | null = null;
  let mostFree = -1;
  let hasAnyRoom = false;
  for (const worker of workers) {
    if (!worker.isPresent(elapsed)) continue;
    const { free } = worker;
    if (free.slots > 0) hasAnyRoom = true;
    if (!worker.couldRun(needs) || !worker.hasRoomFor(needs, free) || !worker.hasTimeFor(needs, elapsed))
      continue;
    const isBetter = best === null || best.label === ratherNot || free.slots > mostFree;
    if (!isBetter || (best !== null && worker.label === ratherNot)) continue;
    best = worker;
    mostFree = free.slots;
  }
  return { best, hasAnyRoom };
}

function reserveAt(worker: PoolWorker, needs: Needs): PoolPlace {
  // One object for each place: by it the room is found again.
  const own = { ...needs };
  worker.reserve(own);
  return { worker: worker.label, at: worker.at, remote: { worker, needs: own } };
}

/** Null: it is not for the server's own worker, whatever its room. */
function placeAtHome(needs: Needs, local: LocalPart): PoolPlace | "full" | null {
  if (needs.slots > 0 && local.slots === 0) return "full";
  if (needs.slots > 0 && !hasTags(local.tags, needs.tags)) return null;
  const place = local.place(needs);
  return place === "full" || place === null ? place : { worker: place.worker, local: place };
}

/** One sentence for people who wonder why a ready job does not start. */
export function whyNoPlace(
  needs: Needs,
  local: LocalPart,
  workers: readonly PoolWorker[],
  elapsed: number,
): string {
  if (needs.usesWorkspace) return whyNotAtHome(needs, local);
  const offers = workers.map(({ offer }) => offer.tags);
  if (local.slots > 0) offers.push([...local.tags]);
  if (offers.length === 0) return "no worker is connected";
  if (!offers.some((tags) => hasTags(tags, needs.tags)))
    return `no connected worker has the tags ${needs.tags.join(", ")}`;
  const able = workers.filter((worker) => worker.couldRun(needs));
  const isForLocal = local.slots > 0 && hasTags(local.tags, needs.tags);
  if (able.length === 0 && !isForLocal)
    return `no connected worker can run actions of type ${needs.actionType}`;
  if (!isForLocal && !able.some((worker) => worker.isBigEnoughFor(needs)))
    return `no connected worker has ${describe(needs)}`;
  if (!isForLocal && !able.some((worker) => worker.hasTimeFor(needs, elapsed)))
    return `the workers that could run it leave before its runtime (${runtimeOf(needs)} ms) is over`;
  if (!isForLocal && !able.some((worker) => worker.isPresent(elapsed)))
    return "the workers that could run it do not answer or are stopping";
  return "the workers that can run it are busy";
}

function whyNotAtHome(needs: Needs, local: LocalPart): string {
  if (local.slots === 0)
    return "it works in the run's workspace, and the server that has it takes no steps itself (--max-parallel 0)";
  if (!hasTags(local.tags, needs.tags))
    return `it works in the run's workspace, and the server that has it does not have the tags ${needs.tags.join(", ")}`;
  return "it works in the run's workspace, and the server that has it is busy";
}

function describe({ slots, memoryBytes }: Needs): string {
  const parts = [`${slots} ${slots === 1 ? "slot" : "slots"}`];
  if (memoryBytes > 0) parts.push(`${memoryBytes} bytes of memory`);
  return parts.join(" and ");
}
