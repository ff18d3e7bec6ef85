import os from "node:os";

const MS_PER_SECOND = 1_000;

/** A moment by two clocks that nobody sets: the one stands still while the machine sleeps, the other is coarse. */
export interface Moment {
  readonly awake: number;
  readonly up: number;
}

export function thisMoment(): Moment {
  return { awake: performance.now(), up: os.uptime() * MS_PER_SECOND };
}

/** The clock on the wall may be set by hours; then nothing has passed. */
export function elapsedMs(since: Moment, until = thisMoment()): number {
  return Math.max(until.awake - since.awake, until.up - since.up);
}

export function laterOf(one: Moment, other: Moment): Moment {
  return one.awake > other.awake ? one : other;
}
