import type { RunRow } from "../../core/model/rows.js";
import type { ChangeListeners } from "../change-listeners.js";
import { givesWay, isClaimable, ownerText } from "../lease-rules.js";
import type { HoldingOwner, LeaseOwner, Store } from "../store.js";
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
      if (isWanted(runs.get(runId)?.run)) listeners.tell("wanted", runId);
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
      return runsWhere(tables, ({ wanted, wanted_at }) => wanted || (wanted_at ?? Infinity) <= request.now)
        .filter((runId) => !except.includes(runId))
        .filter((runId) => isClaimable(tables.leaseOf(runId), request))
        .sort((a, b) => a - b)
        .slice(0, limit)
        .map((runId) => ({ runId, fence: grant(tables, { runId, owner, expiresAt }) }));
    },
    async listOwners() {
      const tables = open();
      const holders = new Map<string, HoldingOwner>();
      for (const runId of runsWhere(tables, ({ wanted, wanted_at }) => wanted || wanted_at !== null)) {
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
