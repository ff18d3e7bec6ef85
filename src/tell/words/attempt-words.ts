import { describeNoProgress } from "../../core/failure/no-progress.js";
import type {
  EdgeConsidered,
  EventOf,
  HandlerOutcome,
  Output,
  RungConsidered,
  StopReason,
} from "../../core/model/events.js";
import { lastWordsOf } from "../../core/model/excerpt.js";
import type { Failure, FailureClass } from "../../core/model/failure.js";
import { type Job, jobById, type Run } from "../../core/model/run.js";
import { type AttemptPlace, HUMAN, type Placed } from "../../core/model/worker-names.js";
import type { Json } from "../../core/text/json.js";
import { oneLine } from "../../core/text/plain-text.js";
import { codeOf } from "../../run/engine/evaluation.js";
import { listNames } from "../lookup/job-name.js";
import { durationText, endedText } from "./duration-text.js";
import { valueText } from "./event-text.js";
import { nameIn, quote, type StorySoFar, short, steered, told, type WordsOf } from "./event-words.js";
import { note } from "./note.js";
import { capitalised, fact, type Sentence, why } from "./sentence.js";

type AttemptEvents =
  | "attempt.started"
  | "attempt.succeeded"
  | "attempt.failed"
  | "attempt.stopped"
  | "if.failed"
  | "job.failed"
  | "ladder.climbed"
  | "evaluation.requested"
  | "evaluation.finished";

/** What attempts do, and how their failures are judged. The lines of a failure are the narrator's. */
export const ATTEMPT_WORDS: WordsOf<AttemptEvents> = {
  "attempt.started": {
    note: ({ job, attempt, worker }, run) =>
      worker === HUMAN
        ? null
        : note("started", `${nameIn(run, job)} started${attempt > 1 ? `, attempt ${attempt}` : ""}`),
    story: ({ job, attempt, worker, placed }) =>
      placed === undefined ? [] : told(job, why(`Attempt ${attempt} started on ${worker}${PLACED[placed]}.`)),
  },
  "attempt.succeeded": {
    note({ job, attempt, duration_ms: durationMs }, run) {
      const name = nameIn(run, job);
      const hint = unheardText(jobById(run, job));
      return attempt === 1
        ? note("completed", `${name} ${endedText("completed", durationMs)}${hint}`)
        : note("recovered", `${name} completed on attempt ${attempt} in ${durationText(durationMs)}${hint}`);
    },
    story: ({ job: id, attempt, duration_ms: durationMs, output, checkpoint }, run, before) => {
      const job = jobById(run, id);
      const isAgents = isAgentsWork(job);
      const changes = changeFacts("It changed", checkpoint?.changed_files ?? [], checkpoint?.patch, {
        run,
        before,
      });
      return (isAgents && changes.length > 0 ? steered : told)(
        id,
        fact(`Attempt ${attempt} ${endedText("completed", durationMs)}.`),
        ...changes.map(isAgents ? fact : why),
        ...childFacts(job, output),
        ...hintFacts(job),
      );
    },
  },
  "attempt.failed": {
    story: (event, run, before) =>
      told(
        event.job,
        ...attemptSentences(event, jobById(run, event.job).attemptPlace, before.lastErrorOf(event.job)),
        ...noProgressFacts(event),
        ...changeFacts("It left changes in", event.error.changed_files, event.patch, { run, before }).map(
          fact,
        ),
        ...(event.patch === null
          ? [fact("What it left in the workspace is larger than max_log: no patch of it was kept.")]
          : []),
      ),
  },
  "attempt.stopped": {
    note: ({ job, attempt, because }, run) =>
      note("canceled", `${nameIn(run, job)} attempt ${attempt} was stopped: ${STOP_MEANS[because]}`),
    story: ({ job, attempt, because, duration_ms: durationMs }) =>
      told(
        job,
        fact(`Attempt ${attempt} was stopped after ${durationText(durationMs)}: ${STOP_MEANS[because]}.`),
      ),
  },
  "if.failed": {
    story: ({ job, error }) => told(job, fact(`It did not start (${error.code}).`), classSentence(error)),
  },
  "job.failed": {
    // The transition that takes the failure on follows at once, and tells both.
    answer: ({ code, handled, routed }, _run, { failure }) =>
      routed ? null : `the step failed${code === failure.code ? "" : ` (${code})`}${goesOn(handled)}`,
    note: ({ job, code, message, handled, routed }, run) =>
      routed
        ? null
        : note("failed", `${nameIn(run, job)} failed: ${short(message)} (${code})${goesOn(handled)}`),
    story: (event, run, before) =>
      told(
        event.job,
        fact(failedText(event, before.lastErrorOf(event.job))),
        ...hintFacts(jobById(run, event.job)),
      ),
  },
  "ladder.climbed": {
    story: (event) => told(event.job, ...climbSentences(event)),
    debug: ({ job, attempt, considered }, run) =>
      considered.map((each) => `${nameIn(run, job)} attempt ${attempt}: ${rungText(each)}`),
  },
  "evaluation.requested": {},
  "evaluation.finished": {
    story: (event) => told(event.job, fact(`Its ${evaluationText(event)}.`)),
    debug(event, run) {
      if (event.purpose === "stand_in") return [`${nameIn(run, event.job)}: ${evaluationText(event)}`];
      const code = oneLine(codeOf(jobById(run, event.job), event.purpose));
      return [`${nameIn(run, event.job)}: ${evaluationText(event)}: ${valueText(code)}`];
    },
  },
};

const PLACED: Readonly<Record<Placed, string>> = {
  elsewhere: ", because the last attempt failed on another worker (retry.on_worker)",
  same: ", where the last attempt failed (retry.on_worker, or a recovery script ran there)",
  probation: ", which is on probation: this attempt shows whether it works again",
  only: ", which is in quarantine, because no other connected worker could run it",
};

const STOP_MEANS: Readonly<Record<StopReason, string>> = {
  superseded: "a goto starts it over",
  canceled: "the run is canceled",
  fail_fast: "another step failed (fail_fast)",
  loop_budget: "max_loops is used up",
  interrupted: "its process let go of the run",
  reset: "it is to run in a fresh workspace",
  flow_ended: "the program that has called it is over",
};

const CLASS_MEANS: Readonly<Record<FailureClass, string>> = {
  transient_runtime: "an outage that may pass by itself",
  stuck_no_progress: "no output, or no progress",
  resource: "it needs more memory or time than it had",
  application: "the program itself ended with an error",
  deterministic_contract: "what was asked for is wrong, so asking again cannot help",
  deterministic_policy: "it is not allowed, so asking again cannot help",
  deterministic_repo: "the repository refuses it, so asking again cannot help",
  infrastructure: "what it ran on was lost or taken away, which is not the step's fault",
};

/** Nobody but it knows what it was going to change. */
export function isAgentsWork({ step }: Job): boolean {
  return step.definition.action.type === "agent";
}

/** What an attempt has made of the workspace's files since the last checkpoint. */
function changeFacts(
  verb: string,
  files: readonly string[],
  patch: string | null | undefined,
  { run, before }: { readonly run: Run; readonly before: StorySoFar },
): string[] {
  if (files.length === 0) return [];
  const lines = patch == null ? null : before.linesOf(patch);
  // A patch of empty or binary files has none.
  const hasLines = lines !== null && lines.added + lines.removed > 0;
  const numbers = hasLines ? ` (+${lines.added} -${lines.removed} lines)` : "";
  const names = listNames(files, (file) => quote(file));
  return [`${verb} ${names}${numbers}${patch == null ? "." : `: daruma artifact ${run.id} ${patch}`}`];
}

/** For a live line. */
export function unheardText({ hint }: Job): string {
  return hint === null || hint.heard === true ? "" : "; no attempt has had its hint";
}

/** What became of a hint that no attempt has heard, once the job has settled. */
export function hintFacts({ hint }: Job): Sentence[] {
  if (hint === null || hint.heard === true) return [];
  return [fact(`No attempt began after the hint "${quote(hint.text)}" was given: nobody has used it.`)];
}

function goesOn(handled: string | null): string {
  return handled === null ? "" : "; the run goes on (continue_on_failure)";
}

/** A step that ran a child run names it in its output. */
function childFacts({ step }: Job, output: Output): Sentence[] {
  const value = output.kind === "value" ? output.value : null;
  if (step.definition.action.type !== "workflow" || value === null || typeof value !== "object") return [];
  const { run_id: child } = value as { readonly [key: string]: Json };
  return typeof child === "number" ? [fact(`Its child run ${child} completed.`)] : [];
}

/** The words of a failure are not said again where it is the same as the one before. */
function attemptSentences(
  { attempt, error, duration_ms: durationMs }: EventOf<"attempt.failed">,
  place: AttemptPlace,
  before: Failure | null,
): Sentence[] {
  const after = `${durationText(durationMs)}${placeText(place)}`;
  if (isSameFailure(error, before))
    return [fact(`Attempt ${attempt} failed the same way after ${after} (${error.code}).`)];
  const line = lastWordsOf(error);
  return [
    fact(`Attempt ${attempt} failed after ${after}: ${quote(error.message)} (${error.code}).`),
    classSentence(error),
    ...(line === null ? [] : [fact(`It printed on ${line.stream}: "${quote(line.text.trim())}".`)]),
  ];
}

/** Nothing where nobody has said: in this process, or on a worker of an older version. */
function placeText({ node, allocation, restart }: AttemptPlace): string {
  const on = node === null ? "" : ` on ${node}`;
  if (allocation === null) return on;
  return `${on} in ${allocation}${restart === null || restart === 0 ? "" : `, restart ${restart}`}`;
}

function classSentence(error: Failure): Sentence {
  return why(`Its class is ${error.class}: ${CLASS_MEANS[error.class]}.`);
}

function noProgressFacts({ error, no_progress: noProgress }: EventOf<"attempt.failed">): Sentence[] {
  if (!noProgress) return [];
  const before =
    error.original_class === null ? "" : ` Its class would otherwise be ${error.original_class}.`;
  return [fact(`${capitalised(describeNoProgress(noProgress))}.${before}`)];
}

function failedText({ code, message, handled }: EventOf<"job.failed">, last: Failure | null): string {
  const dependents = handled === null ? "" : " Its dependents go on (continue_on_failure).";
  const isTold = last !== null && last.code === code && last.message === message;
  return `The step failed${isTold ? "" : ` (${code}): ${quote(message)}`}.${dependents}`;
}

const OUTCOME_MEANS: Readonly<Partial<Record<HandlerOutcome, string>>> = {
  NoMatchingRule: "its failure handler has no rule for it (NoMatchingRule)",
  MaxRetriesExceeded: "the rule that matches has no attempts left (MaxRetriesExceeded)",
  LimitReached: "the rule that matches can raise nothing more (LimitReached)",
  Error: "a rule matches, but the step said that retrying cannot help (Error)",
};

/** Every rung with its reason, what the failure handler said, and every transition that was looked at. */
function climbSentences(event: EventOf<"ladder.climbed">): Sentence[] {
  const outcome = event.recovery === null ? undefined : OUTCOME_MEANS[event.recovery];
  const edges = event.failure_route?.considered ?? [];
  return [
    ...rungSentences(event.considered),
    ...(outcome === undefined ? [] : [why(`In short: ${outcome}.`)]),
    ...edges.map((edge) => why(edgeText(edge))),
  ];
}

/** Rungs that were passed for the same reason share a sentence, where the first of them stands. */
function rungSentences(considered: readonly RungConsidered[]): Sentence[] {
  const alike = new Map<string, RungConsidered[]>();
  for (const each of considered) {
    const key = each.applied ? each.rung : `${each.kind} ${each.reason}`;
    alike.set(key, [...(alike.get(key) ?? []), each]);
  }
  return [...alike.values()].map(rungSentence);
}

/** That nothing else applies is said by the failure of the step, which follows. */
function rungSentence(alike: readonly RungConsidered[]): Sentence {
  const { rung, applied, reason } = alike[0]!;
  const rungs = alike.map((each) => each.rung).join(", ");
  const text = `- ${rungText({ rung: rungs, applied, reason })}.`;
  return applied && rung !== "fail" ? fact(text) : why(text);
}

function rungText({
  rung,
  applied,
  reason,
}: {
  readonly rung: string;
  readonly applied: boolean;
  readonly reason: string;
}): string {
  return `${rung}: ${applied ? "yes" : "no"}, ${reason}`;
}

function edgeText({ edge, to, matched, why: reason }: EdgeConsidered): string {
  return `- transition ${edge} to ${to}: ${matched ? "yes" : "no"}, ${quote(reason)}.`;
}

function evaluationText({ purpose, result }: EventOf<"evaluation.finished">): string {
  if (purpose === "stand_in")
    return result.ok
      ? "stand-in has put out what the step promises"
      : `stand-in has not put out what the step promises: ${quote(result.reason)}`;
  const took = `${result.duration_ms.toFixed(1)} ms`;
  if (result.ok) return `${purpose} gave ${quote(JSON.stringify(result.value))} in ${took}`;
  return `${purpose} failed after ${took} (${result.code}): ${quote(result.reason)}`;
}

/**
 * Whether two failures are the same by their records. A command's message is its exit code, whatever it printed. The
 * signature uses the class before repeated failures made it `stuck_no_progress`.
 */
export function isSameFailure(error: Failure, before: Failure | null | undefined): before is Failure {
  return before != null && before.signature === error.signature;
}

/**
 * Describes a failure. For a repeated one it refers to the earlier attempt: `attempt 2 failed like attempt 1 (EXIT_1)`.
 */
export function failureText(error: Failure, before: Failure | null): string {
  const { attempt, code, class: failureClass, message } = error;
  if (before !== null) return `attempt ${attempt} failed like attempt ${before.attempt} (${code})`;
  const what = attempt === null ? "did not start" : `attempt ${attempt} failed`;
  return `${what}: ${short(message)} (${code}, ${failureClass})`;
}
