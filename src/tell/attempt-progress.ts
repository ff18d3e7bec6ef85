import { noteFailure } from "../core/failure/no-progress.js";
import type { LoggedEvent } from "../core/model/events.js";
import { type HealState, NEW_HEAL_STATE } from "../core/model/heal-state.js";
import { flag, noted, number, type OfFields } from "../core/text/shape.js";

/** Whether a failed attempt came further than the one before it. */
export const PROGRESS = {
  streak: noted(
    number,
    "Failures in a row, this one included, that say the same and leave the same changes.",
  ),
  round: noted(number, "The visit, or the round of the queue, in which they are counted; from 1."),
  reached: noted(flag, "It has reached step_no_progress_limit, or two failures take turns."),
  oscillation: noted(flag, "Two failures take turns."),
} as const;
type ShownProgress = OfFields<typeof PROGRESS>;

/** The progress of failed attempts, by attempt, from the log of one job. */
export function progressByAttempt(log: readonly LoggedEvent[]): ReadonlyMap<number, ShownProgress> {
  const found = new Map<number, ShownProgress>();
  let heal: HealState = NEW_HEAL_STATE;
  let visit = 1;
  let round = 1;
  const beginRound = (): void => {
    heal = NEW_HEAL_STATE;
    round += 1;
  };
  for (const { event } of log) {
    if (event.type === "attempt.started" && event.visit !== visit) {
      if (found.size > 0) beginRound();
      visit = event.visit;
    }
    if (event.type === "requeue.scheduled") beginRound();
    if (event.type !== "attempt.failed") continue;
    // While a breaker is open, a failure says nothing about progress.
    if (event.breakers === undefined) heal = noteFailure(heal, event.error, event.no_progress ?? null);
    const { streak } = heal;
    const { no_progress: noProgress } = event;
    found.set(event.attempt, {
      streak,
      round,
      reached: (noProgress ?? null) !== null,
      oscillation: noProgress?.oscillation ?? false,
    });
  }
  return found;
}
