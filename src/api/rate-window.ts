import { DarumaError } from "../core/errors/errors.js";
import type { Principal } from "../operations/context.js";
import { DEFAULT_RUNS_PER_MINUTE } from "./limits.js";

const WINDOW_MS = 60_000;
const MAX_REMEMBERED = 10_000;

/** Counts actions per key. Each key has its own minute, which begins with its first action. */
export class RateWindow {
  private readonly entries = new Map<string, { count: number; since: number }>();

  constructor(
    private readonly most: number,
    private readonly now: () => number,
  ) {}

  /** Counts one action. Returns 0 within the limit, else the seconds until the key may try again. */
  count(key: string): number {
    const now = this.now();
    let entry = this.entries.get(key);
    // An entry from the future was made before the clock was set back.
    if (entry === undefined || now < entry.since || now - entry.since >= WINDOW_MS) {
      if (this.entries.size >= MAX_REMEMBERED) this.entries.clear();
      entry = { count: 0, since: now };
      this.entries.set(key, entry);
    }
    entry.count += 1;
    return entry.count <= this.most ? 0 : Math.ceil((entry.since + WINDOW_MS - now) / 1_000);
  }
}

/** Throws TOO_MANY_RUNS for a caller that has made too many runs in a minute. Tokens of one name count together. */
export function runAdmission(
  runsPerMinute: number = DEFAULT_RUNS_PER_MINUTE,
  now: () => number = () => performance.now(),
): (principal: Principal) => void {
  if (runsPerMinute === 0) return () => {};
  const window = new RateWindow(runsPerMinute, now);
  return ({ name, role }) => {
    const seconds = window.count(`${role} ${name}`);
    if (seconds > 0)
      throw new DarumaError("TOO_MANY_RUNS", `${name} may start ${runsPerMinute} runs a minute`, {
        details: { retry_after_seconds: seconds },
      });
  };
}
