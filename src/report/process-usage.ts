import type { LoggedEvent } from "../core/model/events.js";

/** What the processes of one attempt used; null where nobody could tell. */
export interface ShownUsage {
  readonly peak_memory_bytes: number | null;
  readonly cpu_ms: number | null;
}

export const UNKNOWN_USAGE: ShownUsage = { peak_memory_bytes: null, cpu_ms: null };

/** By attempt, from the log of one job. */
export function processUsagesOf(log: readonly LoggedEvent[]): ReadonlyMap<number, ShownUsage> {
  const usages = new Map<number, ShownUsage>();
  for (const { event } of log) {
    if (!("attempt" in event) || !("cpuMs" in event)) continue;
    const { attempt, peakMemoryBytes = null, cpuMs = null } = event;
    usages.set(attempt, { peak_memory_bytes: peakMemoryBytes, cpu_ms: cpuMs });
  }
  return usages;
}
