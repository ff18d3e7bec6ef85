import type { LeaseOwner } from "./store.js";

/** A server that is there, or was until lately. */
export interface ServerRow {
  readonly owner: LeaseOwner;
  readonly url: string;
  /** A hash of its settings, which the servers of one store should have in common. */
  readonly settings: string;
  /** It has stopped in good order, and may be back in a moment. */
  readonly hasLeft: boolean;
  /** On the store's clock. */
  readonly seenAt: number;
  /** On the caller's clock, as with leases. */
  readonly expiresAt: number;
}

export interface ServerStore {
  /** This server is there for `expiresAt - now` from this moment, on the clock that the store holds leases against. */
  keepServer(server: Omit<ServerRow, "seenAt">, now: number): Promise<void>;
  /** All that were kept and have not been forgotten since, also those whose time is over. */
  listServers(now: number): Promise<ServerRow[]>;
  forgetServer(owner: LeaseOwner): Promise<void>;
}
