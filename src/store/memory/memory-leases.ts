import { DEFAULT_PRIORITY } from "../../core/groups/concurrency.js";
import type { RunRow } from "../../core/model/rows.js";
import type { ChangeListeners } from "../change-listeners.js";
import { givesWay, isClaimable, ownerText } from "../lease-rules.js";
import type { ClaimRequest, HoldingOwner, LeaseOwner, Store } from "../store.js";
import { givePlace, nextOf, readGroups } from "./memory-places.js";
import { type MemoryTables, type OpenTables, parseRow } from "./memory-tables.js";

type LeaseVerb =
  | "acquireLease"
  | "renewLeases"
  | "releaseLease"
  | "readLease"
  | "readLastLeases"
  | "claimRuns"
  | "listOwners";

export function createLeaseVerbs(open: OpenTables, listeners: ChangeListeners): Pick<Store, LeaseVerb> {
  return {
    async acquireLease(request) {
      const tables = open();
      const lease = tables.leaseOf(request.runId);
      if (lease !== null && !givesWay(lease, request))
        return { granted: false, lease: structuredClone(lease) };
      return { granted: true, fence: grant(tables, request) };
    },
    async renewLeases(held, _now, expiresAt) {
      const tables = open();
      const lost: number[] = [];
      for (const { runId, fence } of held) {
        const lease = tables.leaseOf(runId);
        if (lease?.fence !== fence) lost.push(runId);
        else tables.leases.set(runId, { ...lease, expiresAt });
      }
      return lost;
    },
    async releaseLease(runId, fence) {
      const { leases, runs } = open();
      const last = leases.get(runId);
      if (last?.fence !== fence) return;
      leases.set(runId, { ...last, owner: null });
      const run = runs.get(runId)?.run;
      if (isWanted(run) || isQueuedForServers(run)) listeners.tell("wanted", runId);
    },
    readLease: async (runId) => structuredClone(open().leaseOf(runId)),
    async readLastLeases(runIds) {
      const { leases } = open();
      return runIds.flatMap((runId) => {
        const last = leases.get(runId);
        return last === undefined
          ? []
          : [structuredClone({ runId, owner: last.owner, expiresAt: last.expiresAt })];
      });
    },
    async claimRuns(request) {
      const tables = open();
      const { owner, expiresAt, limit, except = [] } = request;
      const mayTake = (runId: number): boolean =>
        !except.includes(runId) && isClaimable(tables.leaseOf(runId), request);
      const placed = claimPlaced(tables, request, mayTake);
      const isWantedNow = ({ wanted, wanted_at }: RunRow) => wanted || (wanted_at ?? Infinity) <= request.now;
      const wanted = runsWhere(tables, isWantedNow)
        .filter(mayTake)
        .sort((a, b) => priorityOf(tables, b) - priorityOf(tables, a) || a - b);
      return [...placed, ...wanted.slice(0, limit - placed.length)]
        .sort((a, b) => a - b)
        .map((runId) => ({ runId, fence: grant(tables, { runId, owner, expiresAt }) }));
    },
    async listOwners() {
      const tables = open();
      const holders = new Map<string, HoldingOwner>();
      const queued = readGroups(tables, null, 0).filter(({ status }) => status === "pending");
      const wanted = runsWhere(tables, ({ wanted, wanted_at }) => wanted || wanted_at !== null);
      for (const runId of new Set([...wanted, ...queued.map((member) => member.runId)])) {
        const lease = tables.leaseOf(runId);
        if (lease === null) continue;
        const key = ownerText(lease.owner);
        const mark = Math.max(lease.expiresAt, holders.get(key)?.mark ?? lease.expiresAt);
        holders.set(key, { owner: { ...lease.owner }, mark });
      }
      return [...holders.values()];
    },
  };
}

/** Managed runs whose turn it is in their groups: each with its place, which it may have had before. */
function claimPlaced(
  tables: MemoryTables,
  { limit, now, deadOwners }: ClaimRequest,
  mayTake: (runId: number) => boolean,
): number[] {
  const members = readGroups(tables, null, now).filter(
    ({ managed, status }) => managed && status === "pending",
  );
  const claimed = members.filter(({ place, runId }) => place !== null && mayTake(runId)).slice(0, limit);
  for (const group of new Set(members.map(({ concurrency }) => concurrency.group))) {
    for (;;) {
      const next = nextOf(tables, group, now, deadOwners);
      if (next === null || !next.managed || !mayTake(next.runId) || claimed.length >= limit) break;
      givePlace(tables, next);
      claimed.push(next);
    }
  }
  return claimed.map(({ runId }) => runId);
}

function priorityOf({ runs }: MemoryTables, runId: number): number {
  return parseRow<RunRow>(runs.get(runId)!.run).priority ?? DEFAULT_PRIORITY;
}

function isQueuedForServers(run: string | undefined): boolean {
  const row = run === undefined ? null : parseRow<RunRow>(run);
  return row?.managed === true && row.concurrency !== null && row.status === "pending";
}

function runsWhere({ runs }: MemoryTables, isMeant: (run: RunRow) => boolean): number[] {
  return [...runs].filter(([, { run }]) => isMeant(parseRow<RunRow>(run))).map(([runId]) => runId);
}

function isWanted(run: string | undefined): boolean {
  return run !== undefined && parseRow<RunRow>(run).wanted;
}

interface Grant {
  readonly runId: number;
  readonly owner: LeaseOwner;
  readonly expiresAt: number;
}

function grant({ leases }: MemoryTables, { runId, owner, expiresAt }: Grant): number {
  const fence = (leases.get(runId)?.fence ?? 0) + 1;
  leases.set(runId, { fence, owner: { ...owner }, expiresAt });
  return fence;
}
