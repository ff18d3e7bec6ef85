import type { AllocationRow } from "../../store/cluster-rows.js";
import type { Store } from "../../store/store.js";

/** What has been over since before a time, beside runs. */
export interface EndedRows {
  readonly allocations: readonly AllocationRow[];
  /** Ids of tokens that were revoked or have expired. */
  readonly tokens: readonly number[];
}

export async function endedBefore(store: Store, before: number): Promise<EndedRows> {
  const allocations = (await store.listAllocations({})).filter(({ ended_at }) => isPast(ended_at, before));
  return { allocations, tokens: await tokensEndedBefore(store, before) };
}

export async function tokensEndedBefore(store: Store, before: number): Promise<number[]> {
  return (await store.listTokens())
    .filter(({ revoked_at, expires_at }) => isPast(revoked_at, before) || isPast(expires_at, before))
    .map(({ id }) => id);
}

function isPast(at: number | null, before: number): boolean {
  return at !== null && at < before;
}
