import type { Lease, LeaseOwner, LeaseRequest } from "./store.js";

/** Whether a lease as it stands gives way to this request. */
export function givesWay(lease: Lease | null, request: LeaseRequest): boolean {
  if (lease === null || lease.expiresAt <= request.now) return true;
  return lease.fence === request.evenFrom || isSameOwner(lease.owner, request.owner);
}

function isSameOwner(a: LeaseOwner, b: LeaseOwner): boolean {
  return (
    a.engine === b.engine &&
    a.pid === b.pid &&
    a.processStart === b.processStart &&
    a.bootId === b.bootId &&
    a.host === b.host
  );
}
