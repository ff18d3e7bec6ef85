import type { Lease, LeaseOwner, LeaseRequest } from "./store.js";

/** Nobody has it: it was never taken, was given back, or has run out. */
export function isFree(lease: Lease | null, now: number): boolean {
  return lease === null || lease.expiresAt <= now;
}

/** An owner as databases keep it: always in one order, so that the same owner is the same text. */
export function ownerText({ host, bootId, pid, processStart, engine, decides }: LeaseOwner): string {
  return JSON.stringify({ host, bootId, pid, processStart, engine, decides });
}

/** Whether a lease as it stands gives way to this request. */
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
