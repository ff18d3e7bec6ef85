import { list, number, type OfFields } from "../../core/text/shape.js";
import type { AttemptUsage } from "./attempt-usage.js";

/** What all attempts together did, interval by interval. */
export const RESOURCE_TIMELINE = {
  from: number,
  interval_ms: number,
  /** Attempts at work, on average. */
  running: list(number),
  /** Processors at work, as if an attempt kept them equally busy all the time. */
  cpus: list(number),
  /** The peaks of the attempts at work: never less than what they had at a time. */
  memory_bytes: list(number),
} as const;
type ResourceTimeline = OfFields<typeof RESOURCE_TIMELINE>;

const INTERVALS = 160;

/** Null if no attempt has ended. */
export function timelineOf(usages: readonly AttemptUsage[]): ResourceTimeline | null {
  if (usages.length === 0) return null;
  let from = Number.POSITIVE_INFINITY;
  let to = Number.NEGATIVE_INFINITY;
  for (const { endedAt, durationMs } of usages) {
    from = Math.min(from, endedAt - durationMs);
    to = Math.max(to, endedAt);
  }
  const intervalMs = Math.max(1, Math.ceil((to - from) / INTERVALS));
  const count = Math.max(1, Math.ceil((to - from) / intervalMs));
  const running = new Levels(count);
  const cpus = new Levels(count);
  const memory = new Levels(count);
  for (const { endedAt, durationMs, cpuMs, peakMemoryBytes } of usages) {
    const begin = (endedAt - durationMs - from) / intervalMs;
    const end = Math.min(count, (endedAt - from) / intervalMs);
    running.add(begin, end, 1);
    if (cpuMs !== null && durationMs > 0) cpus.add(begin, end, cpuMs / durationMs);
    if (peakMemoryBytes !== null) memory.add(begin, end, peakMemoryBytes);
  }
  return {
    from,
    interval_ms: intervalMs,
    running: running.result(),
    cpus: cpus.result(),
    memory_bytes: memory.result().map(Math.round),
  };
}

/** Sums of levels that hold from one moment to another: each costs the same, however long it lasts. */
class Levels {
  /** What changes at the beginning of an interval, for good; and what holds in this interval alone. */
  private readonly steps: Float64Array;
  private readonly parts: Float64Array;

  constructor(private readonly count: number) {
    this.steps = new Float64Array(count + 2);
    this.parts = new Float64Array(count + 1);
  }

  add(begin: number, end: number, level: number): void {
    const first = Math.min(this.count, Math.max(0, Math.floor(begin)));
    const last = Math.min(this.count, Math.max(0, Math.floor(end)));
    if (first === last) {
      this.parts[first]! += level * (end - begin);
      return;
    }
    this.parts[first]! += level * (first + 1 - begin);
    this.parts[last]! += level * (end - last);
    this.steps[first + 1]! += level;
    this.steps[last]! -= level;
  }

  result(): number[] {
    let level = 0;
    return Array.from({ length: this.count }, (_, at) => {
      level += this.steps[at]!;
      return Number(Math.max(0, level + this.parts[at]!).toPrecision(6));
    });
  }
}
