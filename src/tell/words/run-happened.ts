import type { LoggedEvent } from "../../core/model/events.js";
import type { ErrorRecord } from "../../core/model/failure.js";
import type { RunStatus } from "../../core/model/rows.js";
import type { Run } from "../../core/model/run.js";
import type { RunTally } from "../../core/tally/run-tally.js";
import { oneLine } from "../../core/text/plain-text.js";
import { nameOf } from "../lookup/job-name.js";
import { decisionText } from "./decided-text.js";
import { durationText } from "./duration-text.js";
import { recoveryWords } from "./remedy-words.js";
import { wordsOf } from "./words.js";

/** What a sentence about a run is made of. */
interface Happened {
  readonly status: RunStatus;
  readonly error: ErrorRecord | null;
  readonly recoveries: number;
  readonly tally: RunTally;
}

const MAX_CHARS = 300;
/** No rung brought anything back: what the file says of a hold that expires did, or somebody let it be tried again. */
const DECIDED = "a failure was answered by a decision";

/** One line: what it failed of or waits for, what was rescued and how, or what is under way. Empty: nothing to tell. */
export function happenedText(run: Happened): string {
  return oneLine(sentence(run), MAX_CHARS);
}

function sentence({ status, error, recoveries, tally }: Happened): string {
  const { concern } = tally;
  if (error !== null && concern?.kind !== "failed") return error.message;
  if (concern?.kind === "question") return `${nameOf(concern.step, concern.scope)} asks: ${concern.message}`;
  if (concern !== null && concern.kind !== "handled")
    return `${nameOf(concern.step, concern.scope)}: ${concern.message}`;
  const rescued = recoveredText(recoveries, tally);
  if (concern !== null) {
    const way = concern.to === null ? "and was handled" : `and went to ${concern.to}`;
    const others = recoveries > 1 ? `; ${recoveries} recoveries` : "";
    return `${nameOf(concern.step, concern.scope)} failed (${concern.code}) ${way}${others}`;
  }
  if (status === "running" || status === "pending")
    return [underWay(tally), rescued].filter(Boolean).join("; ");
  const told = [endedByDecision(tally), rescued].filter(Boolean).join("; ");
  return status === "completed" && tally.fell === true && told === "" ? DECIDED : told;
}

function recoveredText(recoveries: number, { recovered }: RunTally): string {
  const told = recovered.map((each) => `${nameOf(each.step, each.scope)} ${recoveryWords(each)}`);
  const more = recoveries - told.length;
  return [...told, ...(more > 0 ? [`${more} more`] : [])].join(", ");
}

function endedByDecision({ decided }: RunTally): string {
  if (decided === undefined) return "";
  const { first, jobs } = decided;
  const more = jobs > 1 ? `; ${jobs - 1} more ended by a decision` : "";
  return `${nameOf(first.step, first.scope)} failed and was ${decisionText(first)}${more}`;
}

const PHASES = { undo: "undoing what it did", finally: "running its finally steps" } as const;

function underWay({ jobs, ending }: RunTally): string {
  if (ending?.phase != null) return PHASES[ending.phase];
  const parts = [
    [jobs.running ?? 0, "at work"],
    [jobs.recovering ?? 0, "recovering"],
    [jobs.waiting ?? 0, "waiting"],
    [jobs.ready ?? 0, "ready"],
  ] as const;
  return parts
    .filter(([count]) => count > 0)
    .map(([count, words]) => `${count} ${words}`)
    .join(", ");
}

/** What happened to the run as a whole beside its steps: where it came from, and what people did with it. */
export function runSentences(run: Run, log: readonly LoggedEvent[]): string[] {
  const sentences = log.flatMap(({ at, event }) => {
    const { runStory } = wordsOf(event);
    return runStory === undefined ? [] : [runStory(event, `after ${durationText(at - run.createdAt)}`, run)];
  });
  if (run.parent === null) return sentences;
  return [`It is a child run of job ${run.parent.job_id} of run ${run.parent.run_id}.`, ...sentences];
}
