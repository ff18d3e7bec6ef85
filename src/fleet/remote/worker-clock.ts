import os from "node:os";
import { setTimeout as delay } from "node:timers/promises";

const MS_PER_SECOND = 1_000;

/** A moment on two monotonic clocks: one stops while the machine sleeps, the other is coarse. */
export interface Moment {
  readonly awake: number;
  readonly up: number;
}

export function thisMoment(): Moment {
  return { awake: performance.now(), up: os.uptime() * MS_PER_SECOND };
}

/** The elapsed time, which does not depend on the wall clock. */
export function elapsedMs(since: Moment, until = thisMoment()): number {
  return Math.max(until.awake - since.awake, until.up - since.up);
}

export function laterOf(one: Moment, other: Moment): Moment {
  return one.awake > other.awake ? one : other;
}

/** Resolves after this time, or as soon as the signal is aborted. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await delay(ms, undefined, { signal }).catch(() => {});
}
