import { closeByHand, openByHand, ownKey } from "../../src/core/breakers/breaker.js";
import type { Definition } from "../../src/core/model/definition.js";
import { BREAKERS, readBreaker } from "../../src/run/engine/breakers/breaker-rows.js";
import type { Store } from "../../src/store/store.js";
import type { Random } from "./random.js";

/** People who open breakers, and close them again some time later. */
export class BreakerHands {
  private readonly open = new Set<string>();

  constructor(
    private readonly random: Random,
    private readonly store: Store,
    private readonly often: number,
  ) {}

  act(definition: Definition, now: number): Promise<void> {
    return this.change(definition, now, (isOpen) => this.random.chance(isOpen ? 0.2 : this.often));
  }

  /** What they have opened stays open for nobody. */
  closeAll(definition: Definition, now: number): Promise<void> {
    return this.change(definition, now, (isOpen) => isOpen);
  }

  private async change(
    { name: workflow, breakers = [] }: Definition,
    now: number,
    isTime: (isOpen: boolean) => boolean,
  ): Promise<void> {
    for (const policy of breakers) {
      const name = ownKey(workflow, policy.name);
      const isOpen = this.open.has(name);
      if (!isTime(isOpen)) continue;
      const { rows, at } = await this.store.readShared(BREAKERS, [name], now);
      const before = readBreaker(rows[0], policy);
      const after = isOpen ? closeByHand(before, "sim", "done", at) : openByHand(before, "sim", "works", at);
      const revision = rows[0]?.revision ?? 0;
      const isWritten = await this.store.writeShared([
        { kind: BREAKERS, name, revision, data: JSON.stringify(after) },
      ]);
      if (!isWritten) continue;
      if (isOpen) this.open.delete(name);
      else this.open.add(name);
    }
  }
}
