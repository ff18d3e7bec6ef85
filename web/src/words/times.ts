const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;

/** "5 min ago" up to an hour, then the time of day, then the date as well. */
export function since(at: string, now: number): string {
  const age = now - Date.parse(at);
  if (age < MINUTE_MS) return "just now";
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`;
  return at.slice(0, 10) === new Date(now).toISOString().slice(0, 10) ? clockTime(at) : exactTime(at);
}

export function clockTime(at: string): string {
  return at.slice(11, 19);
}

export function exactTime(at: string): string {
  return `${at.slice(0, 10)} ${clockTime(at)} UTC`;
}
