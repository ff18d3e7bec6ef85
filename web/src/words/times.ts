const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;

/** "5 min ago" up to an hour, then the time of day, then the date as well. */
export function since(at: string, now: number): string {
  const age = now - Date.parse(at);
  if (age < MINUTE_MS) return "just now";
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`;
  return at.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? clockTime(at) : exactTime(at);
}

/** "in 5 min", "in 3 h 20 min", "in 2 days"; what is due by now is "now". */
export function until(at: string, now: number): string {
  const left = Date.parse(at) - now;
  if (left <= 0) return "now";
  if (left < MINUTE_MS) return "in less than a minute";
  if (left < HOUR_MS) return `in ${Math.floor(left / MINUTE_MS)} min`;
  if (left < 2 * DAY_MS)
    return `in ${Math.floor(left / HOUR_MS)} h ${Math.floor((left % HOUR_MS) / MINUTE_MS)} min`;
  return `in ${Math.floor(left / DAY_MS)} days`;
}

export function clockTime(at: string): string {
  return at.slice(11, 19);
}

export function exactTime(at: string): string {
  return `${at.slice(0, 10)} ${clockTime(at)} UTC`;
}
