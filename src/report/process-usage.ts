import type { LoggedEvent } from "../core/model/events.js";

/** What the processes of one attempt used; null where nobody could tell. */
export interface ShownUsage {
  readonly peak_memory_bytes: number | null;
  readonly cpu_ms: number | null;
  readonly read_bytes: number | null;
  readonly written_bytes: number | null;
}

export const UNKNOWN_USAGE: ShownUsage = {
  peak_memory_bytes: null,
  cpu_ms: null,
  read_bytes: null,
  written_bytes: null,
};

/** The resource use by attempt, from the log of one job. */
export function processUsagesOf(log: readonly LoggedEvent[]): ReadonlyMap<number, ShownUsage> {
  const usages = new Map<number, ShownUsage>();
  for (const { event } of log) {
    if (!("attempt" in event) || !("cpu_ms" in event)) continue;
    const {
      attempt,
      peak_memory_bytes: peakMemoryBytes = null,
      cpu_ms: cpuMs = null,
      read_bytes: readBytes = null,
      written_bytes: writtenBytes = null,
    } = event;
    const io = { read_bytes: readBytes, written_bytes: writtenBytes };
    usages.set(attempt, { peak_memory_bytes: peakMemoryBytes, cpu_ms: cpuMs, ...io });
  }
  return usages;
}
