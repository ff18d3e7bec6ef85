import type { LoggedEvent } from "../core/model/events.js";
import { blank, noted, nullable, number, type OfFields } from "../core/text/shape.js";

/** What the processes of one attempt used; null where nobody could tell. */
export const SHOWN_USAGE = {
  peak_memory_bytes: noted(
    nullable(number),
    "The most memory that one process of the attempt had, or all together if the step has a memory limit and that was more. Null: not known.",
  ),
  cpu_ms: noted(nullable(number), "CPU time of all processes of the attempt. Null: not known."),
  read_bytes: noted(nullable(number), "Read from disks. Null: not known."),
  written_bytes: noted(nullable(number), "Written to disks. Null: not known."),
} as const;
export type ShownUsage = OfFields<typeof SHOWN_USAGE>;

export const UNKNOWN_USAGE: ShownUsage = blank(SHOWN_USAGE);

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
