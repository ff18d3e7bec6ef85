import { type Breaker, type BreakerPolicy, newBreaker } from "../../core/breakers/breaker.js";
import type { SharedRow } from "../../store/shared-rows.js";
import type { Clock } from "../clock.js";
import { type Beside, type ChangedShared, type EditShared, SharedRows } from "../shared-rows.js";

export const BREAKERS = "breaker";

type Policies = ReadonlyMap<string, BreakerPolicy>;

/** The breakers of a store as this engine last saw them, and how it changes them. */
export class BreakerRows {
  private readonly rows: SharedRows<Breaker>;
  private policies: Policies = new Map();

  constructor(store: ChangedShared, clock: Pick<Clock, "now">) {
    this.rows = new SharedRows(BREAKERS, store, clock, (row, key) =>
      readBreaker(row, this.policies.get(key)!),
    );
  }

  /** On the store's clock. */
  now(): number {
    return this.rows.now();
  }

  /** Null: not read yet. */
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

  /** All of these at once, as they are at this moment. False: `edit` left them alone. */
  change(policies: Policies, edit: EditShared<Breaker>, beside?: Beside<Breaker>): Promise<boolean> {
    this.learn(policies);
    return this.rows.change([...policies.keys()], edit, beside);
  }

  private learn(policies: Policies): void {
    this.policies = new Map([...this.policies, ...policies]);
  }
}

/** What a newer version has beside is kept. */
export function readBreaker(row: SharedRow | undefined, policy: BreakerPolicy): Breaker {
  return row === undefined ? newBreaker(policy) : { ...newBreaker(policy), ...JSON.parse(row.data) };
}
