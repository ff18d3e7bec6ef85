import type { AllocationRow, ClusterState } from "../../store/cluster-rows.js";
import { isSameOwner } from "../../store/lease-rules.js";
import type { ServerRow } from "../../store/server-rows.js";
import { KEY_PREFIX } from "../allocations/provider.js";
import type { Observed } from "./reconcile.js";
import type { SupervisorPorts } from "./supervisor-ports.js";

/** How often the queue is searched for allocations that nobody waits for. */
const ORPHAN_POLL_MS = 5 * 60_000;

/** Looks at the batch system for one cluster: at most two questions, whatever the number of allocations. */
export class Observer {
  private searchedAt: number | null = null;

  constructor(
    private readonly ports: SupervisorPorts,
    private readonly submitting: ReadonlySet<string>,
  ) {}

  async look(rows: readonly AllocationRow[], signal: AbortSignal): Promise<Observed> {
    const { provider, clock, pilots, settings } = this.ports;
    const ids = rows.flatMap(({ id }) => id ?? []);
    const lost = rows.some(({ id, key }) => id === null && !this.submitting.has(key));
    const statuses = ids.length === 0 ? new Map() : await provider.status(ids, signal);
    return {
      statuses,
      found: lost || this.isSearchDue() ? await this.search(rows, signal) : null,
      hadPilot: (row, restart) => pilots.hadPilot(`${settings.name}/${row.id}`, restart, row.token_id),
      submitting: this.submitting,
      now: clock.now(),
    };
  }

  private isSearchDue(): boolean {
    return this.searchedAt === null || this.ports.clock.elapsed() - this.searchedAt >= ORPHAN_POLL_MS;
  }

  /**
   * Searches the queue for allocations. Null if the queue does not answer. Those that were given up but exist are
   * canceled.
   */
  private async search(rows: readonly AllocationRow[], signal: AbortSignal): Promise<Observed["found"]> {
    const { provider, clock } = this.ports;
    let listed: Awaited<ReturnType<typeof provider.list>>;
    try {
      listed = await provider.list(KEY_PREFIX, signal);
    } catch {
      return null;
    }
    this.searchedAt = clock.elapsed();
    const live = new Set(rows.map(({ key }) => key));
    for (const { id, key, phase } of listed)
      if (key !== null && !live.has(key) && phase !== "ended") await this.cancelOrphan(id, key, signal);
    return new Map(listed.flatMap(({ key, id }) => (key === null ? [] : [[key, id] as const])));
  }

  /** Another store's allocations have no row here, and are none of ours. */
  private async cancelOrphan(id: string, key: string, signal: AbortSignal): Promise<void> {
    const { provider, store, settings, tell } = this.ports;
    const row = await store.readAllocation(key);
    if (row?.cluster !== settings.name || row.state !== "ended") return;
    tell(`cluster ${settings.name}: canceling allocation ${id}, which had been given up`);
    await provider.cancel(id, "now", signal).catch(() => "gone");
  }
}

/** Rows of servers that are gone become this server's. Their workers stay if they can reach it. */
export function adopt(
  state: ClusterState,
  servers: readonly ServerRow[],
  { owner, isDead, server, clock }: SupervisorPorts,
): ClusterState {
  const now = clock.now();
  const url = server();
  const isGone = (row: AllocationRow): boolean => {
    const known = servers.find((each) => isSameOwner(each.owner, row.owner));
    if (known === undefined || known.expiresAt <= now) return true;
    // Another server waits for the lease to run out: the one that died may be back in a moment, and its workers with it.
    return row.server === url && isDead(row.owner);
  };
  const allocations = state.allocations.map((row) => {
    if (isSameOwner(row.owner, owner) || !isGone(row)) return row;
    return { ...row, owner, cancel: row.server === url ? row.cancel : ("now" as const) };
  });
  return { ...state, allocations };
}
