import type { ReactNode } from "react";
import type { Attempt } from "./Attempts.js";

/** Whether the step comes further from failure to failure, round by round of the queue. */
export function Meter({ attempts }: { readonly attempts: readonly Attempt[] }): ReactNode {
  const rounds = roundsOf(attempts);
  if (rounds.every(({ longest }) => longest < 2)) return null;
  return (
    <section>
      <h2>No progress</h2>
      <div className="panel pad meter">
        {rounds.map(({ round, streaks, longest, reached, oscillation }) => (
          <div key={round} className="row small">
            <span className="dim round">Round {round}</span>
            <span className="dots" aria-hidden="true">
              {streaks.map(({ attempt, streak }) => (
                <span key={attempt} className={streak > 1 ? "d same" : "d first"} />
              ))}
            </span>
            <span>
              <b>
                {oscillation
                  ? "Two failures take turns"
                  : longest < 2
                    ? "It got further"
                    : `${longest} times the same failure`}
              </b>
              {reached && ", the limit"}
            </span>
          </div>
        ))}
      </div>
    </section>
  );
}

interface Round {
  readonly round: number;
  readonly streaks: readonly { readonly attempt: number; readonly streak: number }[];
  readonly longest: number;
  readonly reached: boolean;
  readonly oscillation: boolean;
}

function roundsOf(attempts: readonly Attempt[]): Round[] {
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
