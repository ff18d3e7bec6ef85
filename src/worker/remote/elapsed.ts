/** A moment, by the clock on the wall and by the one that never jumps. */
export interface Moment {
  readonly wall: number;
  readonly steady: number;
}

export function thisMoment(): Moment {
  return { wall: Date.now(), steady: performance.now() };
}

/** The longer of the two: the one stands still while a machine sleeps, the other may be set back. */
export function elapsedMs(since: Moment): number {
  return Math.max(Date.now() - since.wall, performance.now() - since.steady);
}

export function laterOf(one: Moment, other: Moment): Moment {
  return one.steady > other.steady ? one : other;
}
