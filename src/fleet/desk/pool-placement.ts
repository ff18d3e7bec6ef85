import type { Placed } from "../../core/model/worker-names.js";
import { isTrusted, type Standings } from "../../core/quarantine/quarantine.js";
import { beginningOf, type Extent, hasTags, isWide } from "../../run/worker/room.js";
import type { Needs, PlaceWish, Seat, Worker } from "../../run/worker.js";
import type { PoolWorker, Reservation } from "./pool-worker.js";

/** The worker in the server's own process. */
export interface LocalPart extends Worker {
  readonly name: string;
  /** May be 0, but it executes child runs all the same. */
  readonly slots: number;
  readonly used: number;
  readonly tags: readonly string[];
  /** Resources besides slots. Requested only if a step needs them. */
  readonly extent: Extent;
  /** Whether it has a secret or a program, by name. */
  hasWanted?(wanted: string): boolean;
  hasAction(type: string): boolean;
}

/** A place on the local worker or on a remote one. */
export interface PoolPlace extends Seat {
  readonly local?: Seat;
  readonly remote?: { readonly worker: PoolWorker; readonly reservation: Reservation };
}

/** The candidates for a place. */
export interface Choice {
  readonly local: LocalPart;
  readonly workers: readonly PoolWorker[];
  readonly elapsed: number;
  readonly standings: Standings;
  /** Whether a cluster can provide more workers for these tags. */
  readonly canBringOthers: (tags: readonly string[]) => boolean;
}

export const NO_WISH: PlaceWish = { on: null, worker: null, patient: false, mayProve: false };

/**
 * Chooses a place: first a probation that is due, then the preferred worker, then the server's own, then the one with
 * the most room. A worker that fails everything at once always has the most room, so suspects come last.
 */
export function choosePlace(needs: Needs, wish: PlaceWish, choice: Choice): PoolPlace | "full" | null {
  const { local, workers, elapsed } = choice;
  const early = mayGoBeforeHome(needs, wish, choice) ? findWorker(needs, wish, choice) : null;
  if (early?.found?.beforeHome === true) return reserveAt(early.found, needs, elapsed);
  const atHome = placeAtHome(needs, local, workers);
  if (atHome !== null && atHome !== "full") return atHome;
  // Its files are only here. Others may well have room for later jobs.
  if (needs.usesWorkspace) return null;
  const { found, hasAnyRoom } = early ?? findWorker(needs, wish, choice);
  if (found === null) return hasAnyRoom || atHome === null ? null : "full";
  return reserveAt(found, needs, elapsed);
}

interface Found {
  readonly worker: PoolWorker;
  readonly placed: Placed | null;
  /** Whether it is preferred even if the server's own worker has room. */
  readonly beforeHome: boolean;
}

/** Remote candidates for a job for which the server's own worker has room; mostly none. */
function mayGoBeforeHome(
  needs: Needs,
  { on, worker, mayProve }: PlaceWish,
  { local, workers, standings }: Choice,
): boolean {
  if (needs.usesWorkspace || needs.slots === 0) return false;
  if (on !== null && (on === "same") === (worker !== local.name)) return true;
  const isDue = ({ answersAs }: PoolWorker): boolean => {
    const standing = standings.standingOf(answersAs);
    return standing === "due" || standing === "proving";
  };
  return mayProve && workers.some(isDue);
}

function findWorker(
  needs: Needs,
  wish: PlaceWish,
  choice: Choice,
): { readonly found: Found | null; readonly hasAnyRoom: boolean } {
  const { workers, elapsed, standings } = choice;
  const trusted: PoolWorker[] = [];
  const others: PoolWorker[] = [];
  let hasAnyRoom = false;
  for (const worker of workers) {
    if (!worker.isPresent(elapsed)) continue;
    const { free } = worker;
    if (free.slots > 0) hasAnyRoom = true;
    if (!worker.couldRun(needs) || !worker.hasTimeFor(needs, elapsed)) continue;
    if (!worker.hasRoomFor(needs, free, elapsed) || !worker.hasWanted(needs)) continue;
    (isTrusted(standings.standingOf(worker.answersAs)) ? trusted : others).push(worker);
  }
  const found =
    (wish.mayProve ? findProbation(others, choice) : null) ??
    findWished(needs, wish, trusted, choice) ??
    findOnlyOne(needs, trusted, others, choice);
  return { found, hasAnyRoom };
}

function findProbation(others: readonly PoolWorker[], { workers, standings }: Choice): Found | null {
  for (const worker of others) {
    const name = worker.answersAs;
    const standing = standings.standingOf(name);
    if (standing === "due") standings.askProbation(name);
    const isTaken = workers.some(({ answersAs, isProving }) => answersAs === name && isProving);
    if (standing === "proving" && !isTaken) return { worker, placed: "probation", beforeHome: true };
  }
  return null;
}

function findWished(
  needs: Needs,
  { on, worker: last, patient }: PlaceWish,
  trusted: readonly PoolWorker[],
  choice: Choice,
): Found | null {
  const usual = roomiest(trusted, choice);
  if (usual === null || on === null || last === null || needs.slots === 0) return seen(usual);
  if (on === "same") {
    const same = roomiest(
      trusted.filter(({ answersAs }) => answersAs === last),
      choice,
    );
    const decided = same !== null && (same !== usual || hasRoomAtHome(needs, choice));
    return same === null ? seen(usual) : { worker: same, placed: decided ? "same" : null, beforeHome: true };
  }
  if (last === choice.local.name)
    return { worker: usual, placed: hasRoomAtHome(needs, choice) ? "elsewhere" : null, beforeHome: true };
  const other = roomiest(
    trusted.filter(({ answersAs }) => answersAs !== last),
    choice,
  );
  if (other !== null && other !== usual) return { worker: other, placed: "elsewhere", beforeHome: false };
  // A worker that fails at once always has room, and would take all retries of a job while others are busy.
  const isFailing = choice.standings.standingOf(last) === "suspect";
  if (other === null && (patient || isFailing) && couldGoElsewhere(needs, choice, last)) return null;
  return seen(usual);
}

/** Whether another trusted worker could run it, now or later. The named worker does not count. */
function couldGoElsewhere(needs: Needs, choice: Choice, except: string | null): boolean {
  const { local, workers, elapsed, standings } = choice;
  if (isForHome(needs, local, workers)) return true;
  return workers.some((one) => {
    const standing = standings.standingOf(one.answersAs);
    return (
      one.answersAs !== except &&
      (standing === "unknown" || isTrusted(standing)) &&
      !one.draining &&
      one.couldRun(needs) &&
      one.isBigEnoughFor(needs) &&
      one.hasTimeFor(needs, elapsed) &&
      !needs.wants.some((wanted) => one.lacks(wanted))
    );
  });
}

function seen(worker: PoolWorker | null): Found | null {
  return worker === null ? null : { worker, placed: null, beforeHome: false };
}

/**
 * The only workers that could ever take it, if all of them are in quarantine. The server's own worker and clusters do
 * not count.
 */
function findOnlyOne(
  needs: Needs,
  trusted: readonly PoolWorker[],
  others: readonly PoolWorker[],
  choice: Choice,
): Found | null {
  const { standings, canBringOthers } = choice;
  const inQuarantine = others.filter(({ answersAs }) => standings.standingOf(answersAs) !== "unknown");
  if (trusted.length > 0 || inQuarantine.length === 0 || canBringOthers(needs.tags)) return null;
  if (couldGoElsewhere(needs, choice, null)) return null;
  const worker = roomiest(inQuarantine, choice);
  return worker === null ? null : { worker, placed: "only", beforeHome: false };
}

function roomiest(workers: readonly PoolWorker[], { standings }: Choice): PoolWorker | null {
  let best: { readonly worker: PoolWorker; readonly rank: number; readonly free: number } | null = null;
  for (const worker of workers) {
    const rank = standings.standingOf(worker.answersAs) === "suspect" ? 1 : 0;
    const free = worker.free.slots;
    if (best === null || rank < best.rank || (rank === best.rank && free > best.free))
      best = { worker, rank, free };
  }
  return best?.worker ?? null;
}

function hasRoomAtHome(needs: Needs, { local, workers }: Choice): boolean {
  const place = placeAtHome(needs, local, workers);
  if (place === null || place === "full") return false;
  local.release(place.local!);
  return true;
}

function reserveAt({ worker, placed }: Found, needs: Needs, elapsed: number): PoolPlace {
  // Each place is a new object, by which its room is found again.
  const endsAt = needs.runtimeMs === null ? null : elapsed + needs.runtimeMs;
  const reservation = { needs, endsAt, proves: placed === "probation" };
  worker.reserve(reservation);
  const hasBash = worker.offer.bash ?? false;
  const place = { worker: worker.label, at: worker.at, hasBash, remote: { worker, reservation } };
  return placed === null ? place : { ...place, placed };
}

/** Null if it is not for the server's own worker, whatever room that has. */
function placeAtHome(
  needs: Needs,
  local: LocalPart,
  workers: readonly PoolWorker[],
): PoolPlace | "full" | null {
  if (needs.slots > 0 && local.slots === 0) return "full";
  if (needs.slots > 0 && !isForHome(needs, local, workers)) return null;
  const place = local.place(needs);
  if (place === "full" || place === null) return place;
  return { worker: place.worker, local: place, ...(place.hasBash ? { hasBash: true } : {}) };
}

/**
 * Whether the job may run on the server's own worker. One that needs more memory than it has gets in alone, but only if
 * no other worker could take it.
 */
export function isForHome(needs: Needs, local: LocalPart, workers: readonly PoolWorker[]): boolean {
  const { tags, nodes, gpus, memoryBytes, actionType } = needs;
  if (!local.hasAction(actionType)) return false;
  if (local.slots === 0 || nodes > 1 || !hasTags(local.tags, tags)) return false;
  if (gpus > 0 && gpus > local.extent.gpus.length) return false;
  // Without other workers, an attempt reports what is missing; otherwise it is left to them.
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
 * Reserves room for a job without a place: at the worker that will have it soonest if that is known, else at the
 * server's own, else at the one with the most room. Returns false if no worker is large enough.
 */
export function keepRoom(needs: Needs | null, choice: Choice): boolean {
  const { local, workers, elapsed, standings } = choice;
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
  const trusted = able.filter(({ answersAs }) => isTrusted(standings.standingOf(answersAs)));
  const soonest = needs.usesWorkspace
    ? undefined
    : (trusted.length > 0 ? trusted : able)
        .map((worker) => waitingAt(worker, needs, elapsed))
        .sort(bySoonest)[0];
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
