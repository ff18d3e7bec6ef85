import type { Event, EventType } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";
import { ATTEMPT_WORDS } from "./attempt-words.js";
import { eventText } from "./event-text.js";
import type { EventWords, WordsOf } from "./event-words.js";
import { FLOW_WORDS } from "./flow-words.js";
import { HEAL_WORDS } from "./heal-words.js";
import { LADDER_WORDS } from "./ladder-words.js";
import { OPERATOR_WORDS } from "./operator-words.js";
import { BREAKER_WORDS, ENDING_WORDS, RUN_WORDS } from "./run-words.js";

/** The words of every event: for live lines, for the story of a run, and for --debug. A new event must be entered. */
const WORDS: WordsOf<EventType> = {
  ...RUN_WORDS,
  ...ENDING_WORDS,
  ...ATTEMPT_WORDS,
  ...LADDER_WORDS,
  ...HEAL_WORDS,
  ...BREAKER_WORDS,
  ...OPERATOR_WORDS,
  ...FLOW_WORDS,
};

export const EVENT_TYPES = Object.keys(WORDS) as readonly EventType[];

/** The words of this event, to be said of this event alone. */
export function wordsOf(event: Event): EventWords<EventType> {
  return WORDS[event.type] as unknown as EventWords<EventType>;
}

/** Expressions with their results, rungs considered, backoff, transitions and loop counters of one event. */
export function debugLines(run: Run, event: Event): readonly string[] {
  const { debug } = wordsOf(event);
  if (debug === undefined) return [];
  return debug === true ? [`${event.type}: ${eventText(run, event)}`] : debug(event, run);
}
