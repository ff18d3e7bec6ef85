import { type Breaker, type BreakerPolicy, newBreaker } from "../../core/breakers/breaker.js";
import type { SharedRow, SharedStore } from "../../store/shared-rows.js";
import type { Clock } from "../clock.js";

export const BREAKERS = "breaker";
/** Others change the same breaker, but none for long. */
const MAX_TRIES = 50;

/** What the breakers are to become; null: they stay as they are. `now` is on the store's clock. */
type Edit = (breakers: ReadonlyMap<string, Breaker>, now: number) => ReadonlyMap<string, Breaker> | null;

/** The breakers of a store as this engine last saw them, and how it changes them. */
export class BreakerRows {
  private readonly known = new Map<string, { readonly revision: number; readonly breaker: Breaker }>();
  private aheadMs = 0;

  constructor(
    private readonly store: SharedStore,
    private readonly clock: Pick<Clock, "now">,
  ) {}

  /** On the store's clock. */
  now(): number {
    return this.clock.now() + this.aheadMs;
  }

  /** Null: not read yet. */
  get(key: string): Breaker | null {
    return this.known.get(key)?.breaker ?? null;
  }

  isWritten(key: string): boolean {
    return (this.known.get(key)?.revision ?? 0) > 0;
  }

  async read(policies: ReadonlyMap<string, BreakerPolicy>): Promise<void> {
    const { rows, at } = await this.store.readShared(BREAKERS, [...policies.keys()], this.clock.now());
    this.aheadMs = at - this.clock.now();
    const found = new Map(rows.map((row) => [row.name, row]));
    for (const [key, policy] of policies) this.learn(key, policy, found.get(key));
  }

  /** An answer that was overtaken tells nothing new. */
  private learn(key: string, policy: BreakerPolicy, row: SharedRow | undefined): void {
    if (row === undefined && this.known.has(key)) return;
    if (row !== undefined && row.revision < (this.known.get(key)?.revision ?? 0)) return;
    this.known.set(key, { revision: row?.revision ?? 0, breaker: readBreaker(row, policy) });
  }

  /** All of these at once, as they are at this moment. False: `edit` left them alone. */
  async change(policies: ReadonlyMap<string, BreakerPolicy>, edit: Edit): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries += 1) {
      await this.read(policies);
      const before = new Map([...policies.keys()].map((key) => [key, this.get(key)!]));
      const after = edit(before, this.now());
      if (after === null) return false;
      const rows = [...after].map(([name, breaker]) => ({
        kind: BREAKERS,
        name,
        revision: this.known.get(name)?.revision ?? 0,
        data: JSON.stringify(breaker),
      }));
      if (!(await this.store.writeShared(rows))) continue;
      for (const { name, revision } of rows)
        this.known.set(name, { revision: revision + 1, breaker: after.get(name)! });
      return true;
    }
    return false;
  }
}

/** What a newer version has beside is kept. */
export function readBreaker(row: SharedRow | undefined, policy: BreakerPolicy): Breaker {
  return row === undefined ? newBreaker(policy) : { ...newBreaker(policy), ...JSON.parse(row.data) };
}
