import { counted, sizeText } from "../../core/text/amount-text.js";
import { beginningOf, isWide } from "../backfill.js";
import { type Extent, hasTags } from "../local-room.js";
import type { Needs, Place, Worker } from "../worker.js";
import { type PoolWorker, type Reservation, runtimeOf } from "./pool-worker.js";

/** The worker in the server's own process. */
export interface LocalPart extends Worker {
  readonly name: string;
  /** May be 0: child runs are its business all the same. */
  readonly slots: number;
  readonly used: number;
  readonly tags: readonly string[];
  /** Beside slots; asked for only where a step wants any of it. */
  readonly extent: Extent;
  /** A secret or a program by name. */
  hasWanted?(wanted: string): boolean;
}

/** Room here or there. */
export interface PoolPlace extends Place {
  readonly local?: Place;
  readonly remote?: { readonly worker: PoolWorker; readonly reservation: Reservation };
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
    if (best !== null) return reserveAt(best, needs, elapsed);
  }
  const atHome = placeAtHome(needs, local, workers);
  if (atHome !== null && atHome !== "full") return atHome;
  // Its files lie here, and nowhere else; others may well have room for what comes after it.
  if (needs.usesWorkspace) return null;
  const { best, hasAnyRoom } = findRoomiest(needs, workers, elapsed, ratherNot);
  if (best === null) return hasAnyRoom || atHome === null ? null : "full";
  return reserveAt(best, needs, elapsed);
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
    if (!worker.couldRun(needs) || !worker.hasTimeFor(needs, elapsed)) continue;
    if (!worker.hasRoomFor(needs, free, elapsed) || !worker.hasWanted(needs)) continue;
    const isBetter = best === null || best.label === ratherNot || free.slots > mostFree;
    if (!isBetter || (best !== null && worker.label === ratherNot)) continue;
    best = worker;
    mostFree = free.slots;
  }
  return { best, hasAnyRoom };
}

function reserveAt(worker: PoolWorker, needs: Needs, elapsed: number): PoolPlace {
  // One object for each place: by it the room is found again.
  const endsAt = needs.runtimeMs === null ? null : elapsed + needs.runtimeMs;
  const reservation = { needs, endsAt };
  worker.reserve(reservation);
  return { worker: worker.label, at: worker.at, remote: { worker, reservation } };
}

/** Null: it is not for the server's own worker, whatever its room. */
function placeAtHome(
  needs: Needs,
  local: LocalPart,
  workers: readonly PoolWorker[],
): PoolPlace | "full" | null {
  if (needs.slots > 0 && local.slots === 0) return "full";
  if (needs.slots > 0 && !isForHome(needs, local, workers)) return null;
  const place = local.place(needs);
  return place === "full" || place === null ? place : { worker: place.worker, local: place };
}

/** One that wants more memory than there is gets in alone, but only where nobody else could have it. */
function isForHome(needs: Needs, local: LocalPart, workers: readonly PoolWorker[]): boolean {
  const { tags, nodes, gpus, memoryBytes } = needs;
  if (local.slots === 0 || nodes > 1 || !hasTags(local.tags, tags)) return false;
  if (gpus > 0 && gpus > local.extent.gpus.length) return false;
  // Alone it tells what it lacks; beside others it leaves the step to them.
  if (workers.length > 0 && lackedAtHome(needs, local).length > 0 && !needs.usesWorkspace) return false;
  const isTooLarge = memoryBytes > 0 && memoryBytes > local.extent.memoryBytes;
  return (
    !isTooLarge ||
    needs.usesWorkspace ||
    !workers.some((one) => one.couldRun(needs) && one.isBigEnoughFor(needs))
  );
}

function lackedAtHome({ wants }: Needs, local: LocalPart): readonly string[] {
  return wants.filter((wanted) => local.hasWanted?.(wanted) === false);
}

/**
 * Keep room for one that nobody has room for: at the worker that has it soonest, as far as that is known, else at the
 * server's own, else at the one with the most room. False: nobody is large enough.
 */
export function keepRoom(
  needs: Needs | null,
  local: LocalPart,
  workers: readonly PoolWorker[],
  elapsed: number,
): boolean {
  for (const worker of workers) worker.keptFor = null;
  local.keepRoomFor?.(null);
  if (needs === null || !isWide(needs)) return false;
  const able = workers.filter(
    (one) =>
      one.hasWanted(needs) &&
      one.isPresent(elapsed) &&
      one.couldRun(needs) &&
      one.isBigEnoughFor(needs) &&
      one.hasTimeFor(needs, elapsed),
  );
  const soonest = needs.usesWorkspace
    ? undefined
    : able.map((worker) => waitingAt(worker, needs, elapsed)).sort(bySoonest)[0];
  if (soonest !== undefined && soonest.at !== Infinity) soonest.worker.keptFor = needs;
  else if (isForHome(needs, local, workers)) return local.keepRoomFor?.(needs) ?? false;
  else if (soonest !== undefined) soonest.worker.keptFor = needs;
  return soonest !== undefined;
}

interface WaitingAt {
  readonly worker: PoolWorker;
  readonly at: number;
  readonly freeSlots: number;
}

function waitingAt(worker: PoolWorker, needs: Needs, elapsed: number): WaitingAt {
  const occupied = worker.occupied(elapsed);
  return { worker, at: beginningOf(needs, occupied)?.at ?? Infinity, freeSlots: occupied.free.slots };
}

function bySoonest(one: WaitingAt, other: WaitingAt): number {
  if (one.at !== other.at) return one.at - other.at;
  return other.freeSlots - one.freeSlots;
}

/** `worker`: none that is there can run it. `slot`: those that can are busy. The text is a clause. */
export interface NoPlace {
  readonly kind: "worker" | "slot";
  readonly text: string;
}

const lacking = (text: string): NoPlace => ({ kind: "worker", text });
const busy = (text: string): NoPlace => ({ kind: "slot", text });

/** For people who wonder why a ready job does not start. */
export function whyNoPlace(
  needs: Needs,
  local: LocalPart,
  workers: readonly PoolWorker[],
  elapsed: number,
): NoPlace {
  if (needs.usesWorkspace) return whyNotAtHome(needs, local);
  if (needs.nodes > 1 && !workers.some((worker) => worker.couldRun(needs)))
    return lacking(
      `it needs ${needs.nodes} machines at once, which only an allocation of a cluster that is made for it has`,
    );
  const offers = workers.map(({ offer }) => offer.tags);
  if (local.slots > 0) offers.push([...local.tags]);
  if (offers.length === 0) return lacking("no worker is connected");
  if (!offers.some((tags) => hasTags(tags, needs.tags)))
    return lacking(`no connected worker has the tags ${needs.tags.join(", ")}`);
  const able = workers.filter((worker) => worker.couldRun(needs));
  const isForLocal = isForHome(needs, local, workers);
  if (able.length === 0 && !isForLocal)
    return lacking(`no connected worker can run actions of type ${needs.actionType}`);
  const lacked = needs.wants.filter((wanted) => able.every((worker) => worker.lacks(wanted)));
  if (!isForLocal && lacked.length > 0)
    return lacking(`no connected worker has the ${lacked.join(", the ")}`);
  if (!isForLocal && !able.some((worker) => worker.isBigEnoughFor(needs)))
    return lacking(`no connected worker has ${describe(needs)}`);
  if (!isForLocal && !able.some((worker) => worker.hasTimeFor(needs, elapsed)))
    return lacking(`the workers that could run it leave before its runtime (${runtimeOf(needs)} ms) is over`);
  if (!isForLocal && !able.some((worker) => worker.isPresent(elapsed)))
    return lacking("the workers that could run it do not answer or are stopping");
  return busy("the workers that can run it are busy");
}

function whyNotAtHome(needs: Needs, local: LocalPart): NoPlace {
  if (local.slots === 0)
    return lacking(
      "it works in the run's workspace, and the server that has it takes no steps itself (--max-parallel 0)",
    );
  if (!hasTags(local.tags, needs.tags))
    return lacking(
      `it works in the run's workspace, and the server that has it does not have the tags ${needs.tags.join(", ")}`,
    );
  return busy("it works in the run's workspace, and the server that has it is busy");
}

function describe({ slots, memoryBytes, gpus }: Needs): string {
  const parts = [counted(slots, "slot")];
  if (memoryBytes > 0) parts.push(`${sizeText(memoryBytes)} of memory`);
  if (gpus > 0) parts.push(counted(gpus, "GPU"));
  return parts.length < 3 ? parts.join(" and ") : `${parts.slice(0, -1).join(", ")} and ${parts.at(-1)}`;
}
