import type { Considered } from "../../../../src/tell/words/rung-marks.js";
import type { Attempt } from "./Attempts.js";

/** All rungs, lowest first, in the order of the engine. A test compares them with the engine's own table. */
export const RUNGS = [
  "stop",
  "restart",
  "park",
  "rule",
  "retry",
  "reset",
  "remediate",
  "goto",
  "edge",
  "requeue",
  "hold",
  "fail",
] as const;

/** How the ladder answered one attempt. */
export interface Column {
  readonly attempt: number;
  readonly rung: string;
  readonly considered: readonly Considered[];
}

/** More do not fit beside the reasons. */
const MAX_COLUMNS = 8;

/** The last attempts, or those up to the chosen one if it is further back. */
export function climbColumns(
  climbs: readonly Column[],
  chosen: number | null,
  most = MAX_COLUMNS,
): { readonly columns: readonly Column[]; readonly leftOff: number } {
  const place = climbs.findIndex(({ attempt }) => attempt === chosen);
  const end = place < 0 ? climbs.length : Math.max(place + 1, Math.min(climbs.length, most));
  const last = place >= climbs.length - most ? climbs.length : end;
  const first = Math.max(0, last - most);
  return { columns: climbs.slice(first, last), leftOff: first };
}

/** The failures so far in one round of the queue. */
interface Round {
  readonly round: number;
  readonly streaks: readonly { readonly attempt: number; readonly streak: number }[];
  readonly longest: number;
  readonly reached: boolean;
  readonly oscillation: boolean;
}

export function roundsOf(attempts: readonly Pick<Attempt, "attempt" | "no_progress">[]): Round[] {
  const rounds = new Map<number, Round>();
  for (const { attempt, no_progress: progress } of attempts) {
    if (progress === null) continue;
    const { round, streak, reached, oscillation } = progress;
    const before = rounds.get(round);
    rounds.set(round, {
      round,
      streaks: [...(before?.streaks ?? []), { attempt, streak }],
      longest: Math.max(before?.longest ?? 0, streak),
      reached: reached || before?.reached === true,
      oscillation: oscillation || before?.oscillation === true,
    });
  }
  return [...rounds.values()];
}

/** How many more equal failures the limit allows after the last one of the round. */
export function roomIn({ streaks, reached }: Round, limit: number | null): number {
  if (limit === null || reached) return 0;
  return Math.max(0, limit - (streaks.at(-1)?.streak ?? 0));
}
