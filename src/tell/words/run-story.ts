import type { LoggedEvent } from "../../core/model/events.js";
import type { Run } from "../../core/model/run.js";
import { durationText } from "./duration-text.js";
import { wordsOf } from "./words.js";

/** What happened to the run as a whole beside its steps: where it came from, and what people did with it. */
export function runSentences(run: Run, log: readonly LoggedEvent[]): string[] {
  const sentences = log.flatMap(({ at, event }) => {
    const { runStory } = wordsOf(event);
    return runStory === undefined ? [] : [runStory(event, `after ${durationText(at - run.createdAt)}`, run)];
  });
  if (run.parent === null) return sentences;
  return [`It is a child run of job ${run.parent.job_id} of run ${run.parent.run_id}.`, ...sentences];
}
