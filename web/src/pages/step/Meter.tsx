import type { ReactNode } from "react";
import type { JobDetails } from "../../words/status.js";
import { roomIn, roundsOf } from "./no-progress-rounds.js";

/** More would not fit into the row. */
const MOST_EMPTY = 8;

/** Shows whether the step makes progress from failure to failure, for each round of the queue. */
export function Meter({ job }: { readonly job: JobDetails }): ReactNode {
  const rounds = roundsOf(job.attempt_history);
  const limit = job.definition?.no_progress_limit ?? null;
  if (rounds.every(({ longest }) => longest < 2)) return null;
  return (
    <section>
      <h2>No progress {limit !== null && <span className="small dim plain">limit {limit}</span>}</h2>
      <div className="panel pad meter">
        {rounds.map((each) => (
          <div key={each.round} className="row small">
            <span className="dim round">Round {each.round}</span>
            <span className="dots" aria-hidden="true">
              {each.streaks.map(({ attempt, streak }) => (
                <span key={attempt} className={streak > 1 ? "d same" : "d first"} />
              ))}
              {Array.from({ length: Math.min(MOST_EMPTY, roomIn(each, limit)) }, (_none, place) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: an empty cell is its place
                <span key={`empty ${place}`} className="d" />
              ))}
            </span>
            <span>
              <b>
                {each.oscillation
                  ? "Two failures take turns"
                  : each.longest < 2
                    ? "It got further"
                    : `${each.longest} times the same failure`}
              </b>
              {each.reached && ", the limit"}
            </span>
          </div>
        ))}
      </div>
    </section>
  );
}
