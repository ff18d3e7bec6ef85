import type { ClusterSettings } from "../../file/settings/settings.js";
import type { Clock } from "../../run/engine/clock.js";
import type { LeaseOwner, Store } from "../../store/store.js";
import type { AllocationProvider } from "../allocations/provider.js";
import type { Demand } from "../allocations/scale/demand.js";
import type { EndedAllocation } from "../desk/pool-allocations.js";

/** Workers that a server had before it was started again are back by then. */
export const RETURN_MS = 20_000;

/** What the workers' side knows of allocations, by `CLUSTER/ID` and by the token that was made for them. */
export interface Pilots {
  /** A worker of this incarnation has come, be it gone again. */
  hadPilot(allocation: string, restart: number, token: number | null): boolean;
  /** A worker of it is connected. */
  isHere(allocation: string, token: number | null): boolean;
  /** Its worker is connected and takes nothing more. */
  isDraining(allocation: string, token: number | null): boolean;
  /** Ends its attempts with the batch system's explanation. May be called twice. */
  allocationEnded(ended: EndedAllocation): void;
}

export interface SupervisorPorts {
  readonly settings: ClusterSettings;
  readonly provider: AllocationProvider;
  readonly store: Pick<
    Store,
    "readCluster" | "writeCluster" | "readAllocation" | "listServers" | "putToken" | "revokeToken"
  >;
  readonly clock: Clock;
  /** This process. */
  readonly owner: LeaseOwner;
  readonly isDead: (owner: LeaseOwner) => boolean;
  /** The address at which its workers reach this server. */
  readonly server: () => string;
  /** The folder for the files of allocations. */
  readonly folder: string;
  readonly pilots: Pilots;
  /** Ready jobs of this server's runs that ask for this cluster. */
  readonly demands: () => readonly Demand[];
  /** How many attempts have begun on it, as far as this process knows. */
  readonly starts: () => number;
  /** Nodes on which what others complete fails. */
  readonly nodesInQuarantine: () => readonly string[];
  readonly files: {
    readonly write: (folder: string, token: string, script: string) => void;
    readonly remove: (folder: string) => void;
  };
  readonly newKey: () => string;
  readonly newToken: () => string;
  readonly hashOf: (token: string) => string;
  /** A sentence for the server's log. */
  readonly tell: (text: string) => void;
}
