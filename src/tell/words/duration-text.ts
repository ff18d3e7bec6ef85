const SECOND_MS = 1_000;
const MINUTE_MS = 60 * SECOND_MS;
const HOUR_MS = 60 * MINUTE_MS;
/** Up to here tenths of a second are worth a look. */
const TENTHS_BELOW_MS = 100 * SECOND_MS;

/** A duration as people read it: `0 ms`, `250 ms`, `1.5 s`, `2 min 05 s`, `1 h 02 min`. */
export function durationText(ms: number): string {
  const whole = Math.max(0, Math.round(ms));
  if (whole < SECOND_MS) return `${whole} ms`;
  if (whole < TENTHS_BELOW_MS) return secondsText(whole);
  if (whole < HOUR_MS)
    return `${Math.floor(whole / MINUTE_MS)} min ${pad((whole % MINUTE_MS) / SECOND_MS)} s`;
  return `${Math.floor(whole / HOUR_MS)} h ${pad((whole % HOUR_MS) / MINUTE_MS)} min`;
}

/** `completed in 2.2 s`, `failed after 2.2 s`. */
export function endedText(word: string, ms: number): string {
  return `${word} ${word === "completed" ? "in" : "after"} ${durationText(ms)}`;
}

/** Seconds with one decimal: what does not jump about while it is counting. */
export function secondsText(ms: number): string {
  return `${(Math.max(0, ms) / SECOND_MS).toFixed(1)} s`;
}

function pad(value: number): string {
  return String(Math.floor(value)).padStart(2, "0");
}
