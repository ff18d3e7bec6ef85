import type { Lease, LeaseOwner, LeaseRequest } from "./store.js";

/** Whether nobody holds the lease: it was never taken, was released, or has expired. */
export function isFree(lease: Lease | null, now: number): boolean {
  return lease === null || lease.expiresAt <= now;
}

/** An owner as text. The keys have a fixed order, so the same owner always gives the same text. */
export function ownerText({ host, bootId, pid, processStart, engine, decides }: LeaseOwner): string {
  return JSON.stringify({ host, bootId, pid, processStart, engine, decides });
}

/** Whether a request may replace the present lease. */
export function givesWay(lease: Lease | null, request: LeaseRequest): boolean {
  if (lease === null || isFree(lease, request.now)) return true;
  return lease.fence === request.evenFrom || isSameOwner(lease.owner, request.owner);
}

export function isSameOwner(a: LeaseOwner, b: LeaseOwner): boolean {
  return (
    a.engine === b.engine &&
    a.pid === b.pid &&
    a.processStart === b.processStart &&
    a.bootId === b.bootId &&
    a.host === b.host
  );
}

/**
 * Leases for duties that one process does for all. They are held like runs, with a token and on the store's clock, and
 * are rows of the lease table whose numbers no run has.
 */
export const DUTY_LEASE = { book: -1, campaigns: -2, retention: -3, schedules: -4 } as const;
export type DutyName = keyof typeof DUTY_LEASE;
