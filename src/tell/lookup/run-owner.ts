import type { RunRow } from "../../core/model/rows.js";
import { isDead } from "../../store/lease-owner.js";
import type { LastLease, LeaseOwner, Store } from "../../store/store.js";
import { heldBelow } from "./held-below.js";
import { isImported } from "./own-runs.js";

export type RunOwner = Pick<LeaseOwner, "host" | "pid">;

/** The process that goes on with a run by itself, or null if nobody does. A child run that rests is its parent's. */
export async function ownerOf(store: Store, runId: number): Promise<RunOwner | null> {
  const lease = await store.readLease(runId);
  if (lease !== null && lease.expiresAt > Date.now() && lease.owner.decides !== true && !isDead(lease.owner))
    return { host: lease.owner.host, pid: lease.owner.pid };
  const parent = (await store.readRun(runId))?.parent ?? null;
  return parent === null ? null : ownerOf(store, parent.run_id);
}

/**
 * The run to resume: the process that continues a run also continues its child runs. A finished parent continues
 * nothing.
 */
export async function runToResume(
  store: Store,
  { id, parent }: Pick<RunRow, "id" | "parent">,
): Promise<number> {
  const above = parent === null ? null : await store.readRun(parent.run_id);
  return above === null || above.finished_at !== null ? id : runToResume(store, above);
}

type Owned = Pick<RunRow, "id" | "status" | "managed" | "parent" | "options">;

/** Those of these runs that are interrupted: nobody has them, and they could go on at once. */
export async function interruptedRuns(
  store: Store,
  runs: readonly Owned[],
  now = Date.now(),
): Promise<ReadonlySet<number>> {
  const interrupted = new Set(await unownedRuns(store, runs, now));
  for (const run of runs)
    if (interrupted.has(run.id) && (await heldBelow(store, run)).length > 0) interrupted.delete(run.id);
  return interrupted;
}

/**
 * Those of these runs that want an engine and have no owner. The log cannot say so, because a process that dies writes
 * nothing, so it is determined each time. A run that servers continue counts only after nobody has had it for
 * longer than a lease: until then the next server is about to take it.
 */
export async function unownedRuns(
  store: Store,
  runs: readonly Owned[],
  now = Date.now(),
): Promise<ReadonlySet<number>> {
  // Held and paused runs want nobody, nor do imported ones; a pending one waits for its turn.
  const asked = runs.filter((run) => run.status === "running" && !isImported(run));
  if (asked.length === 0) return new Set();
  const found = new OwnedRuns(store, now);
  await found.readLeases(asked.map(({ id }) => id));
  const unowned = new Set<number>();
  for (const run of asked) if (!(await found.isKept(run))) unowned.add(run.id);
  return unowned;
}

const RUNS_PER_PAGE = 1_000;

/** All of them. */
export async function interruptedRunIds(store: Store): Promise<number[]> {
  const found: number[] = [];
  for (let beforeId: number | undefined; ; ) {
    const page = await store.listRuns({
      ...{ status: ["running"], limit: RUNS_PER_PAGE },
      ...(beforeId === undefined ? {} : { beforeId }),
    });
    found.push(...(await interruptedRuns(store, page)));
    if (page.length < RUNS_PER_PAGE) return found;
    beforeId = page.at(-1)!.id;
  }
}

class OwnedRuns {
  private readonly leases = new Map<number, LastLease>();
  private readonly known = new Set<number>();
  /** Asking the system for a process is slow where there is no /proc, and many runs have one owner. */
  private readonly dead = new Map<string, boolean>();

  constructor(
    private readonly store: Store,
    private readonly now: number,
  ) {}

  async readLeases(runIds: readonly number[]): Promise<void> {
    for (const lease of await this.store.readLastLeases(runIds)) this.leases.set(lease.runId, lease);
    for (const id of runIds) this.known.add(id);
  }

  /** Whether it is kept, by itself or with its parent run. */
  async isKept({ id, managed, parent }: Pick<Owned, "id" | "managed" | "parent">): Promise<boolean> {
    if (!this.known.has(id)) await this.readLeases([id]);
    const lease = this.leases.get(id);
    if (lease !== undefined && lease.expiresAt > this.now && (managed || this.isAlive(lease))) return true;
    const above = parent === null ? null : await this.store.readRun(parent.run_id);
    return above !== null && this.isKept(above);
  }

  private isAlive({ owner }: LastLease): boolean {
    if (owner === null) return false;
    const key = JSON.stringify(owner);
    const dead = this.dead.get(key) ?? isDead(owner);
    this.dead.set(key, dead);
    return !dead;
  }
}
