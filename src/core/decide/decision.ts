import { evolve } from "../evolve/evolve.js";
import type { Event, LoggedEvent } from "../model/events.js";
import type { Run } from "../model/run.js";

/** One decision under way: each event it emits is folded in at once, so that the next one is decided on top of it. */
export class Decision {
  readonly events: Event[] = [];

  constructor(
    readonly run: Run,
    readonly now: number,
  ) {}

  emit(event: Event): void {
    evolve(this.run, event, this.now);
    this.events.push(event);
  }
}

export function replay(run: Run, log: Iterable<LoggedEvent>): void {
  for (const { event, at } of log) evolve(run, event, at);
}
