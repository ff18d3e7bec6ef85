import { type Breaker, type BreakerPolicy, newBreaker } from "../../core/breakers/breaker.js";
import type { SharedRow } from "../../store/shared-rows.js";
import type { Clock } from "../clock.js";
import { type Beside, type ChangedShared, type EditShared, SharedRows } from "../shared-rows.js";

export const BREAKERS = "breaker";

type Policies = ReadonlyMap<string, BreakerPolicy>;

/** This engine's last view of a store's breakers, and how it changes them. */
export class BreakerRows {
  private readonly rows: SharedRows<Breaker>;
  private policies: Policies = new Map();

  constructor(store: ChangedShared, clock: Pick<Clock, "now">) {
    this.rows = new SharedRows(BREAKERS, store, clock, (row, key) =>
      readBreaker(row, this.policies.get(key)!),
    );
  }

  /** The present time on the store's clock. */
  now(): number {
    return this.rows.now();
  }

  /** The breaker; null if it has not been read yet. */
  get(key: string): Breaker | null {
    return this.rows.get(key);
  }

  isWritten(key: string): boolean {
    return this.rows.isWritten(key);
  }

  read(policies: Policies): Promise<void> {
    this.learn(policies);
    return this.rows.read([...policies.keys()]);
  }

  /** Changes all of these at once, in their present state. Returns false if `edit` left them unchanged. */
  change(policies: Policies, edit: EditShared<Breaker>, beside?: Beside<Breaker>): Promise<boolean> {
    this.learn(policies);
    return this.rows.change([...policies.keys()], edit, beside);
  }

  private learn(policies: Policies): void {
    this.policies = new Map([...this.policies, ...policies]);
  }
}

/** Reads a breaker. Fields of a newer version are kept. */
export function readBreaker(row: SharedRow | undefined, policy: BreakerPolicy): Breaker {
  return row === undefined ? newBreaker(policy) : { ...newBreaker(policy), ...JSON.parse(row.data) };
}
