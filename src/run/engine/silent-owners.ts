import type { HoldingOwner } from "../../store/store.js";
import type { Clock } from "./clock.js";
import { DEFAULT_LEASE_MS } from "./lease-keeper.js";

/** No living owner leaves its leases unrenewed for so long, whatever their length. */
export const SILENT_MS = 600_000;
const LEASES_UNRENEWED = 3;

/**
 * Finds owners that must be gone because they have renewed nothing for so long on the monotonic clock, although their
 * leases have not expired: the clock of the leases was set back since.
 */
export class SilentOwners {
  private readonly seen = new Map<string, { readonly mark: number; readonly at: number }>();

  constructor(
    private readonly clock: Clock,
    private readonly leaseMs = DEFAULT_LEASE_MS,
  ) {}

  /** Returns the engines of such owners. Call it repeatedly: it remembers what it saw. */
  among(holding: readonly HoldingOwner[]): ReadonlySet<string> {
    const now = this.clock.elapsed();
    const present = new Set(holding.map(({ owner }) => owner.engine));
    for (const engine of [...this.seen.keys()]) if (!present.has(engine)) this.seen.delete(engine);
    const silent = new Set<string>();
    for (const { owner, mark } of holding) {
      const known = this.seen.get(owner.engine);
      if (known?.mark !== mark) this.seen.set(owner.engine, { mark, at: now });
      else if (now - known.at >= Math.max(SILENT_MS, this.leaseMs * LEASES_UNRENEWED))
        silent.add(owner.engine);
    }
    return silent;
  }
}
