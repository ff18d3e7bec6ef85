import { Cron } from "croner";
import type { CronTimes } from "./schedule.js";
import { instantOf, latestWallTimeUpTo, type WallTime, wallTimeAt } from "./time-zone.js";

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
