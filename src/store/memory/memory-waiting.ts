import { isSameOwner } from "../lease-rules.js";
import type { LeaseOwner, Store, WaitingRun } from "../store.js";
import type { MemoryTables, OpenTables } from "./memory-tables.js";

type WaitingVerb = "putWaiting" | "listWaiting" | "takeWaiting";

export function createWaitingVerbs(open: OpenTables): Pick<Store, WaitingVerb> {
  return {
    async putWaiting(owner, runs) {
      const tables = open();
      for (const [runId, named] of tables.waiting)
        if (isSameOwner(named.owner, owner) || !isHeldAsNamed(tables, named)) tables.waiting.delete(runId);
      for (const run of runs)
        if (tables.runs.has(run.runId)) tables.waiting.set(run.runId, { ...run, owner: { ...owner } });
    },
    async listWaiting(owner) {
      const tables = open();
      return [...tables.waiting.values()]
        .filter((named) => !isSameOwner(named.owner, owner) && isHeldAsNamed(tables, named))
        .map(({ owner: _owner, ...run }) => run)
        .sort((a, b) => a.runId - b.runId);
    },
    async takeWaiting({ runId, fence, seq }, { owner, expiresAt }) {
      const tables = open();
      const { fence: held, lastSeq } = tables.positionOf(runId);
      if (held !== fence || lastSeq !== seq) return null;
      tables.leases.set(runId, { fence: fence + 1, owner: { ...owner }, expiresAt });
      tables.waiting.delete(runId);
      return { runId, fence: fence + 1 };
    },
  };
}

function isHeldAsNamed(
  tables: MemoryTables,
  { runId, fence, owner }: WaitingRun & { readonly owner: LeaseOwner },
): boolean {
  const lease = tables.leaseOf(runId);
  return lease !== null && lease.fence === fence && isSameOwner(lease.owner, owner);
}
