import { Cron } from "croner";
import type { CronTimes } from "./triggers.js";

const MINUTE_MS = 60_000;
const HOUR_MS = 60 * MINUTE_MS;
/** No zone is further from UTC, and none changes its offset twice within twice this time. */
const BEYOND_ANY_OFFSET_MS = 26 * HOUR_MS;
const OFFSET = /GMT([+-])(\d{2}):(\d{2})(?::(\d{2}))?$/;

/** A time as the clock on the wall shows it, written as the UTC time that looks the same. */
type WallTime = number;

const formats = new Map<string, Intl.DateTimeFormat>();

/** Throws RangeError if there is no such zone. */
function formatOf(zone: string): Intl.DateTimeFormat {
  const known = formats.get(zone);
  if (known !== undefined) return known;
  const made = new Intl.DateTimeFormat("en-US", { timeZone: zone, timeZoneName: "longOffset" });
  formats.set(zone, made);
  return made;
}

export function isTimeZone(zone: string): boolean {
  try {
    formatOf(zone);
    return true;
  } catch {
    return false;
  }
}

/** How far the zone's clocks are ahead of UTC at that time. */
function offsetAt(zone: string, at: number): number {
  if (zone === "UTC") return 0;
  const [, sign, hours = "0", minutes = "0", seconds = "0"] = OFFSET.exec(formatOf(zone).format(at)) ?? [];
  const ms = Number(hours) * HOUR_MS + Number(minutes) * MINUTE_MS + Number(seconds) * 1_000;
  return sign === "-" ? -ms : ms;
}

function wallTimeAt(zone: string, at: number): WallTime {
  return at + offsetAt(zone, at);
}

/** The latest that the clocks of the zone have shown up to then: more than they show now, after they were set back. */
function latestWallTimeUpTo(zone: string, at: number): WallTime {
  const now = offsetAt(zone, at);
  const before = offsetAt(zone, at - BEYOND_ANY_OFFSET_MS);
  return before <= now ? at + now : Math.max(at + now, changeOf(zone, at, now) + before);
}

/**
 * When the clocks of a zone first show a time. One that they never show, as they are set forward over it, comes with the
 * next one that they do show. Never earlier for a later time.
 */
function instantOf(zone: string, wall: WallTime): number {
  const before = offsetAt(zone, wall - BEYOND_ANY_OFFSET_MS);
  const after = offsetAt(zone, wall + BEYOND_ANY_OFFSET_MS);
  if (before === after) return wall - before;
  const shown = [wall - before, wall - after].filter((at) => wallTimeAt(zone, at) === wall);
  return shown.length > 0 ? Math.min(...shown) : changeOf(zone, wall, after);
}

/** When the clocks of the zone went over to an offset, about that time. */
function changeOf(zone: string, about: number, offset: number): number {
  let before = about - BEYOND_ANY_OFFSET_MS;
  let after = about + BEYOND_ANY_OFFSET_MS;
  while (after - before > 1) {
    const middle = Math.floor((before + after) / 2);
    if (offsetAt(zone, middle) === offset) after = middle;
    else before = middle;
  }
  return after;
}

const SECOND_MS = 1_000;
/** Patterns of times on the wall, in which no clock is ever set: which moments they are is the time zone's affair. */
const ON_THE_WALL = { mode: "5-or-6-parts", utcOffset: 0 } as const;

const patterns = new Map<string, Cron>();
const MAX_PATTERNS = 1_000;

function patternOf(cron: string): Cron {
  const known = patterns.get(cron);
  if (known !== undefined) return known;
  const made = new Cron(cron, ON_THE_WALL);
  if (patterns.size >= MAX_PATTERNS) patterns.clear();
  patterns.set(cron, made);
  return made;
}

/** What is wrong with it, or null. */
export function cronProblem(cron: string): string | null {
  const fields = cron.trim().split(/\s+/).length;
  if (fields !== 5 && fields !== 6)
    return `it has ${fields} field${fields === 1 ? "" : "s"}, not five or six`;
  try {
    return patternOf(cron).nextRun(new Date(0)) === null ? "it never fires" : null;
  } catch (error) {
    return (error as Error).message.replace(/^CronPattern: /, "");
  }
}

/** The first tick after that time. Null: there is none any more. */
export function nextTick({ cron, timezone }: CronTimes, after: number): number | null {
  let wall: WallTime | null = wallTimeAt(timezone, after);
  for (;;) {
    wall = patternOf(cron).nextRun(new Date(wall))?.getTime() ?? null;
    if (wall === null) return null;
    const tick = instantOf(timezone, wall);
    // Times that come twice have fired the first time.
    if (tick > after) return tick;
  }
}

/** The newest ticks after one time and up to another, at most so many, oldest first. */
export function lastTicks(
  { cron, timezone }: CronTimes,
  { after, upTo, limit }: { readonly after: number; readonly upTo: number; readonly limit: number },
): number[] {
  const ticks: number[] = [];
  let wall: WallTime = Math.floor(latestWallTimeUpTo(timezone, upTo) / SECOND_MS + 1) * SECOND_MS;
  while (ticks.length < limit) {
    const [earlier] = patternOf(cron).previousRuns(1, new Date(wall));
    if (earlier === undefined) break;
    wall = earlier.getTime();
    const tick = instantOf(timezone, wall);
    if (tick <= after) break;
    // Several times that do not exist come with the same one that does.
    if (tick <= upTo && tick !== ticks.at(-1)) ticks.push(tick);
  }
  return ticks.reverse();
}
