import { describeUsedUp, loopCount } from "../core/decide/loop-budget.js";
import { describeNoProgress } from "../core/failure/no-progress.js";
import type { Definition } from "../core/model/definition.js";
import type { EvaluationPurpose, Event, LoggedEvent, Output } from "../core/model/events.js";
import type { Failure, FailureClass } from "../core/model/failure.js";
import { type Job, jobById, type Run } from "../core/model/run.js";
import type { Json } from "../core/text/json.js";
import { oneLine } from "../core/text/plain-text.js";
import { durationText } from "./duration-text.js";
import { climbSentences, ladderSentences } from "./ladder-sentences.js";
import { jobName, jobNames } from "./lookup/job-name.js";
import { ReplayedRun } from "./lookup/replayed-log.js";
import { gotoText, loopText, retryLoopText } from "./loop-text.js";
import { detail, type Sentence } from "./sentence.js";

/** What happened to one job, in sentences, oldest first. */
export interface JobStory {
  readonly job: Job;
  readonly sentences: Sentence[];
  /** Failed attempts, and failures without one. */
  failures: number;
  /** Somebody or some failure has steered it. */
  steered: boolean;
  /** Of the attempt that failed last. */
  lastError: Failure | null;
}

const MAX_QUOTE_CHARS = 160;

const CLASS_MEANS: Readonly<Record<FailureClass, string>> = {
  transient_runtime: "an outage that may pass by itself",
  stuck_no_progress: "no output, or no progress",
  resource: "it needs more memory or time than it had",
  application: "the program itself ended with an error",
  deterministic_contract: "what was asked for is wrong, so asking again cannot help",
  deterministic_policy: "it is not allowed, so asking again cannot help",
  deterministic_repo: "the repository refuses it, so asking again cannot help",
  infrastructure: "its worker was lost, which is not the step's fault",
};

/** What a run is told from. */
export interface RecordedRun {
  readonly runId: number;
  readonly definition: Definition;
  readonly log: readonly LoggedEvent[];
}

/** The run at the end of its log, and a story for each job that the log speaks of, in the order of their first events. */
export function tellStories({ runId, definition, log }: RecordedRun): { run: Run; stories: JobStory[] } {
  const replay = new ReplayedRun(runId, () => definition);
  const teller = new StoryTeller(replay);
  for (const logged of log) teller.take(replay.fold(logged), logged.event);
  return { run: replay.now, stories: [...teller.stories.values()] };
}

class StoryTeller {
  readonly stories = new Map<number, JobStory>();
  /** The job whose failure the next cascade follows from. */
  private lastFailed: number | null = null;
  private forkedFrom = 0;

  constructor(private readonly replay: ReplayedRun) {}

  /** `state` is the run just after the event. */
  take(state: Run, event: Event): void {
    switch (event.type) {
      case "jobs.canceled":
        this.canceled(event);
        break;
      case "jobs.skipped":
        for (const id of event.jobs) this.say(id, `It was skipped: ${event.reason}.`);
        break;
      case "scope.abandoned":
        for (const id of event.canceled) this.say(id, `It was given up (${event.code}): ${event.reason}.`);
        break;
      case "barrier.closed":
        for (const id of event.invalidated) {
          if (this.stories.has(id)) this.say(id, `Visit ${jobById(state, id).visit} began (goto).`);
        }
        break;
      case "attempt.failed":
      case "if.failed":
      case "job.failed":
        this.failed(event);
        break;
      case "run.forked":
        this.forkedFrom = event.from;
        break;
      case "job.reused":
        this.say(event.job, `It was not done again: its output is that of run ${this.forkedFrom}.`);
        break;
      case "edge.taken":
        this.steer(event.job, ...ladderSentences(state, event));
        this.steer(event.target, arrivalSentence(state, event));
        break;
      case "routes.settled":
        for (const id of event.handled)
          this.steer(id, "The failure is handled: where it was routed to, it worked out.");
        for (const id of event.unhandled)
          this.steer(id, "The failure is not handled: where it was routed to, it did not work out.");
        break;
      case "jobs.retried":
        this.retried(state, event);
        break;
      case "operator.goto":
        this.steer(
          event.target,
          `Somebody went back to it ("${plain(event.reason)}").`,
          detail("Cost: nothing."),
        );
        break;
      case "job.held":
      case "hold.resolved":
      case "human.asked":
      case "human.answered":
      case "reset.reserved":
      case "requeue.scheduled":
        this.steer(event.job, ...ladderSentences(state, event));
        break;
      default:
        if ("job" in event) this.say(event.job, ...sentencesOf(state, event));
    }
  }

  /** A job may fail without a failed attempt, for want of a repair. */
  private failed(event: Extract<Event, { type: "attempt.failed" | "if.failed" | "job.failed" }>): void {
    const story = this.storyOf(event.job);
    if (event.type !== "job.failed" || story.failures === 0) story.failures += 1;
    this.lastFailed = event.job;
    this.say(event.job, ...failureSentences(event, story.lastError));
    if (event.type !== "job.failed") story.lastError = event.error;
  }

  private canceled(event: Extract<Event, { type: "jobs.canceled" }>): void {
    for (const id of event.jobs) this.say(id, `It was canceled (${event.code}): ${event.reason}.`);
    if (event.code !== "DEPENDENCY_FAILED" || this.lastFailed === null) return;
    const verbs = event.jobs.length === 1 ? "depends on it and was" : "depend on it and were";
    this.say(this.lastFailed, `${jobNames(this.replay.now, event.jobs)} ${verbs} canceled.`);
  }

  /** A resolved hold has said so itself. */
  private retried(state: Run, event: Extract<Event, { type: "jobs.retried" }>): void {
    for (const id of event.jobs) {
      const visit = `visit ${jobById(state, id).visit}`;
      if (event.action === "resolve") this.steer(id, `That is ${visit}.`);
      else
        this.steer(
          id,
          `Somebody asked for it again by ${event.action} ("${plain(event.reason)}"): ${visit}, with fresh budgets.`,
        );
    }
    for (const id of event.reblocked)
      this.say(id, `It waits again: ${jobNames(state, event.jobs)} is done anew.`);
  }

  private steer(id: number, ...sentences: readonly Sentence[]): void {
    this.storyOf(id).steered = true;
    this.say(id, ...sentences);
  }

  private say(id: number, ...sentences: readonly Sentence[]): void {
    if (sentences.length > 0) this.storyOf(id).sentences.push(...sentences);
  }

  private storyOf(id: number): JobStory {
    let story = this.stories.get(id);
    if (story === undefined) {
      story = {
        job: jobById(this.replay.now, id),
        sentences: [],
        failures: 0,
        steered: false,
        lastError: null,
      };
      this.stories.set(id, story);
    }
    return story;
  }
}

function sentencesOf(state: Run, event: Event): Sentence[] {
  switch (event.type) {
    case "attempt.succeeded":
      return [
        `Attempt ${event.attempt} completed after ${durationText(event.durationMs)}.`,
        ...childSentences(event.output),
      ];
    case "attempt.stopped":
      return [
        `Attempt ${event.attempt} was stopped after ${durationText(event.durationMs)}: ${event.because}.`,
      ];
    case "evaluation.finished":
      return [evaluationSentence(event.purpose, event.result)];
    case "ladder.climbed":
      return climbSentences(event);
    case "restart.granted":
      return [detail(`Cost: restart ${event.recovery} of ${event.limit} of this visit; no retry, no loop.`)];
    case "retry.scheduled":
      return [
        detail(
          `Cost: retry ${event.retry} of ${event.max} of this visit and ${durationText(event.delayMs)} of waiting; max_loops: ${retryLoopText(state, jobById(state, event.job))}.`,
        ),
      ];
    case "remediation.started":
      return [`The repair begins: ${event.steps.join(", then ")}.`];
    case "remediation.finished":
      return event.ok
        ? [
            "The repair worked, so it runs once more.",
            detail(`Cost: the remediation of this visit and ${loops(state, event.job)}.`),
          ]
        : [`The repair failed: ${event.failedStep} did not complete.`];
    case "follow_up.started":
      return [`Its success starts ${event.steps.join(", then ")}.`];
    case "follow_up.finished":
      return event.ok ? [] : [`What follows its success stopped: ${event.failedStep} did not complete.`];
    case "goto.taken":
      return [
        `Back to ${event.to} (${event.reason}).`,
        detail(`Cost: ${gotoText(event, state)} of ${jobById(state, event.job).scope.id}.`),
      ];
    case "loop.exceeded":
      return [exceededSentence(state, event)];
    case "visit.entered":
      return [
        `Visit ${event.visit} began: ${jobName(jobById(state, event.by))} asked for it (${event.role}).`,
      ];
    case "join.decided":
      return [
        `Of its branches ${event.completed} completed, ${event.failed} failed and ${event.skipped} were skipped: the join is ${event.satisfied ? "" : "not "}satisfied.`,
      ];
    default:
      return ladderSentences(state, event);
  }
}

/** How a failure, or a success, came to a step by a transition. */
function arrivalSentence(state: Run, event: Extract<Event, { type: "edge.taken" }>): string {
  const from = jobName(jobById(state, event.job));
  const what = event.on === "failure" ? `the failure of ${from}` : `the success of ${from}`;
  return event.status === "selected"
    ? `Transition ${event.edge} brought ${what} here.`
    : `Transition ${event.edge} brought ${what} here while it was under way.`;
}

/** A step that ran a child run names it in its output. */
function childSentences(output: Output): string[] {
  const value = output.kind === "value" ? output.value : null;
  if (value === null || typeof value !== "object" || Array.isArray(value)) return [];
  const { run_id: child, outputs } = value as { readonly [key: string]: Json };
  return typeof child === "number" && outputs !== undefined ? [`Its child run ${child} completed.`] : [];
}

type FailureEvent = Extract<Event, { type: "attempt.failed" | "if.failed" | "job.failed" }>;

/** The words of a failure are not said again where it is the same as the one before. */
function failureSentences(event: FailureEvent, before: Failure | null): Sentence[] {
  switch (event.type) {
    case "attempt.failed":
      return [...attemptSentences(event, before), ...noProgressSentences(event)];
    case "if.failed":
      return [`It did not start (${event.error.code}).`, classSentence(event.error)];
    case "job.failed":
      return [failedSentence(event, before)];
  }
}

function attemptSentences(
  { attempt, error, durationMs }: Extract<Event, { type: "attempt.failed" }>,
  before: Failure | null,
): Sentence[] {
  const after = durationText(durationMs);
  if (before !== null && before.message === error.message && before.code === error.code)
    return [`Attempt ${attempt} failed the same way after ${after} (${error.code}).`];
  const lines: Sentence[] = [
    `Attempt ${attempt} failed after ${after}: ${plain(error.message)} (${error.code}).`,
    classSentence(error),
  ];
  const lastWords = plain(error.stderr_tail.trimEnd().split("\n").at(-1) ?? "");
  if (lastWords !== "" && !plain(error.message).includes(lastWords))
    lines.push(`Its last words on stderr: "${lastWords}".`);
  return lines;
}

function classSentence(error: Failure): Sentence {
  return detail(`Its class is ${error.class}: ${CLASS_MEANS[error.class]}.`);
}

function noProgressSentences({ error, noProgress }: Extract<Event, { type: "attempt.failed" }>): string[] {
  if (!noProgress) return [];
  const before = error.original_class === null ? "" : ` By itself it would be ${error.original_class}.`;
  return [`${sentence(describeNoProgress(noProgress))}.${before}`];
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function evaluationSentence(
  purpose: EvaluationPurpose,
  result: Extract<Event, { type: "evaluation.finished" }>["result"],
): string {
  const took = `${result.durationMs.toFixed(1)} ms`;
  if (result.ok) return `Its ${purpose} gave ${plain(JSON.stringify(result.value))} in ${took}.`;
  return `Its ${purpose} was refused after ${took} (${result.code}): ${plain(result.reason)}.`;
}

function failedSentence(
  { code, message, handled }: Extract<Event, { type: "job.failed" }>,
  last: Failure | null,
): string {
  const goesOn = handled === null ? "" : " Its dependents go on (continue_on_failure).";
  const isTold = last !== null && last.code === code && last.message === message;
  return `The step failed${isTold ? "" : ` (${code}): ${plain(message)}`}.${goesOn}`;
}

function exceededSentence(state: Run, event: Extract<Event, { type: "loop.exceeded" }>): string {
  const { transition, scope } = event;
  const end = `Everything unsettled in ${scope} was given up.`;
  // After a failure its rungs, or its last word, say why.
  if (!transition.startsWith("on_success")) return end;
  const count = loopCount(state, jobById(state, event.job), transition);
  return `Its ${transition} was not taken: ${describeUsedUp(transition, count)}. ${end}`;
}

function loops(state: Run, id: number): string {
  const job = jobById(state, id);
  return `${loopText(job.scope.loops, state)} of ${job.scope.id}`;
}

function plain(text: string): string {
  return oneLine(text, MAX_QUOTE_CHARS);
}
