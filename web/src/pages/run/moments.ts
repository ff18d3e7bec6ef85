import type { TimelineData } from "./run-data.js";

type Log = Pick<TimelineData, "events" | "first_at" | "last_at" | "stretch_ms" | "stretches">;

export function spanOf({ first_at, last_at }: Pick<Log, "first_at" | "last_at">): number {
  return Math.max(1, Date.parse(last_at) - Date.parse(first_at));
}

/**
 * How many attempts and conditions failed. What follows from one of them, such as the end of its job, does not count
 * again.
 */
export function failuresMet({ stretches }: Pick<Log, "stretches">): number {
  return stretches.reduce((sum, { failures }) => sum + failures, 0);
}

/** The last event before a moment of the log, for the slider; null for the end of the log. */
export function seqAt(log: Log, ms: number): number | null {
  let found = 1;
  for (const { from_ms, seq } of log.stretches) {
    if (from_ms > ms) break;
    found = seq;
  }
  return found >= log.events ? null : found;
}

/** The approximate time of an event: the stretch that contains it. */
export function msOf(log: Log, seq: number | null): number {
  if (seq === null) return spanOf(log);
  let before = 0;
  for (const { from_ms, seq: last } of log.stretches) {
    if (last >= seq) {
      const events = last - before;
      const part = events <= 1 ? 0 : (seq - before - 1) / events;
      return from_ms + part * log.stretch_ms;
    }
    before = last;
  }
  return spanOf(log);
}

/** The next or previous event; null for the end of the log. */
export function stepBy(log: Pick<Log, "events">, at: number | null, by: 1 | -1): number | null {
  const next = Math.max(1, (at ?? log.events) + by);
  return next >= log.events ? null : next;
}

/** The next or previous recovery, by its first event. */
export function recoveryBeside(
  recoveries: readonly { readonly first_seq: number }[],
  at: number | null,
  by: 1 | -1,
): number | null {
  const seqs = recoveries.map(({ first_seq }) => first_seq);
  const now = at ?? Number.POSITIVE_INFINITY;
  return by === 1 ? (seqs.find((seq) => seq > now) ?? null) : (seqs.findLast((seq) => seq < now) ?? at);
}

/** The positions of badges in per cent. They are moved apart so that none hides another. */
export function badgePlaces(places: readonly number[], least: number): number[] {
  const moved: number[] = [];
  for (const place of places) moved.push(Math.max(place, (moved.at(-1) ?? Number.NEGATIVE_INFINITY) + least));
  const over = (moved.at(-1) ?? 0) - 100;
  if (over <= 0) return moved;
  // Badges that leave the axis at the right push the others back.
  let most = 100;
  return moved
    .reverse()
    .map((place) => {
      const kept = Math.max(0, Math.min(place, most));
      most = kept - least;
      return kept;
    })
    .reverse();
}
