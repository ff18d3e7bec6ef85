import { keep, kept } from "../kept.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
const DAY_MS = 24 * HOUR_MS;
const MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];

export type Zone = "UTC" | "local";

const KEY = "daruma-times";
const watchers = new Set<() => void>();
let chosen: Zone = kept(KEY) === "local" ? "local" : "UTC";

/** The time zone of this browser's page. Logs and the command line use UTC. */
export const zone = {
  get: (): Zone => chosen,
  choose: (next: Zone): void => {
    chosen = next;
    keep(KEY, next);
    for (const watcher of watchers) watcher();
  },
  watch: (watcher: () => void): (() => void) => {
    watchers.add(watcher);
    return () => watchers.delete(watcher);
  },
};

/** A text such as "5 min ago" up to an hour, then the time of day, later with the date. */
export function since(at: string, now: number): string {
  const age = now - Date.parse(at);
  if (age < MINUTE_MS) return "just now";
  if (age < HOUR_MS) return `${Math.floor(age / MINUTE_MS)} min ago`;
  const [then, today] = [told(at), told(new Date(now).toISOString())];
  if (then.slice(0, 10) === today.slice(0, 10)) return namedTime(at);
  if (then.slice(0, 4) !== today.slice(0, 4)) return exactTime(at);
  return `${Number(then.slice(8, 10))} ${MONTHS[Number(then.slice(5, 7)) - 1]} ${then.slice(11, 16)} ${zoneName(at)}`;
}

/** A text such as "in 5 min", "in 3 h 20 min" or "in 2 days"; "now" if it is due. */
export function until(at: string, now: number): string {
  const left = Date.parse(at) - now;
  if (left <= 0) return "now";
  if (left < MINUTE_MS) return "in less than a minute";
  if (left < HOUR_MS) return `in ${Math.floor(left / MINUTE_MS)} min`;
  if (left < 2 * DAY_MS)
    return `in ${Math.floor(left / HOUR_MS)} h ${Math.floor((left % HOUR_MS) / MINUTE_MS)} min`;
  return `in ${Math.floor(left / DAY_MS)} days`;
}

/** A time such as "10:57:03 UTC", or "12:57:03 UTC+2" in local time. */
export function namedTime(at: string): string {
  return `${told(at).slice(11, 19)} ${zoneName(at)}`;
}

/** The time with its date. */
export function exactTime(at: string): string {
  return `${told(at).slice(0, 10)} ${namedTime(at)}`;
}

/** The local time of the zone, as an ISO text. */
function told(at: string): string {
  return new Date(Date.parse(at) + aheadOf(at) * MINUTE_MS).toISOString();
}

function zoneName(at: string): string {
  const ahead = aheadOf(at);
  if (ahead === 0) return "UTC";
  const [hours, minutes] = [Math.floor(Math.abs(ahead) / 60), Math.abs(ahead) % 60];
  const rest = minutes === 0 ? "" : `:${String(minutes).padStart(2, "0")}`;
  return `UTC${ahead < 0 ? "-" : "+"}${hours}${rest}`;
}

/** The minutes by which the zone is ahead of UTC. */
function aheadOf(at: string): number {
  return chosen === "UTC" ? 0 : -new Date(at).getTimezoneOffset();
}
