import { isDead } from "../store/lease-owner.js";
import type { LeaseOwner, Store } from "../store/store.js";

/** The process that goes on with a run by itself, or null if nobody does. A child run that rests is its parent's. */
export async function ownerOf(store: Store, runId: number): Promise<LeaseOwner | null> {
  const lease = await store.readLease(runId);
  if (lease !== null && lease.expiresAt > Date.now() && !isDead(lease.owner)) return lease.owner;
  const parent = (await store.readRun(runId))?.parent ?? null;
  return parent === null ? null : ownerOf(store, parent.run_id);
}
