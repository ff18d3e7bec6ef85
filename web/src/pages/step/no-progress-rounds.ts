import type { Attempt } from "./Attempts.js";

/** The failures so far in one round of the queue. */
export interface Round {
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
