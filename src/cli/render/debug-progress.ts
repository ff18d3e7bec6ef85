import type { Event, EventType, LoggedEvent } from "../../core/model/events.js";
import { jobById, type Run } from "../../core/model/run.js";
import { createRedactor, type Redactor } from "../../core/redaction/redaction.js";
import { iso } from "../../core/text/iso-time.js";
import { oneLine } from "../../core/text/plain-text.js";
import { codeOf } from "../../engine/evaluation.js";
import { jobName } from "../../report/lookup/job-name.js";
import { ReplayedRun } from "../../report/lookup/replayed-log.js";
import { loopText, retryLoopText } from "../../report/loop-text.js";
import type { CommandLine } from "../declare/command-words.js";
import type { Channel } from "../terminal/channel.js";
import { eventText, valueText } from "./event-text.js";
import { shownLine } from "./paint.js";
import { elapsed, plainProgress } from "./plain-progress.js";
import type { Progress } from "./progress.js";

/**
 * Plain progress, and below each line what led to it. Made from the log alone: what it prints is what was recorded.
 * The run that listeners get may be ahead of its committed events, so this follows with a fold of its own.
 */
export function debugProgress(
  channel: Channel,
  env: { readonly [name: string]: string | undefined } = process.env,
  commandLine?: CommandLine,
): Progress {
  const plain = plainProgress(channel, commandLine);
  /** A run and its child runs. */
  const replays = new Map<number, ReplayedRun>();
  let redactor: Redactor | null = null;
  let startedAt: number | null = null;
  return {
    ...plain,
    events(run, events) {
      redactor ??= redactorOf(run, env);
      startedAt ??= events[0]?.at ?? null;
      // A resumed run is seen from its middle; there the live run must do.
      if (events[0]?.event.type === "run.created")
        replays.set(run.id, new ReplayedRun(run.id, () => run.definition));
      for (const logged of events) {
        const state = replays.get(run.id)?.fold(logged) ?? run;
        plain.events(state, [logged]);
        for (const line of debugLines(state, logged.event)) {
          channel.write(
            `${elapsed(logged.at - (startedAt ?? logged.at))}  ${channel.paint("dim", `debug: ${shownLine(redactor.redact(line))}`)}\n`,
          );
        }
      }
    },
  };
}

function redactorOf(run: Run, env: { readonly [name: string]: string | undefined }): Redactor {
  return createRedactor(
    run.definition.secrets.flatMap((name) => (env[name] ? [{ name, value: env[name] }] : [])),
  );
}

/** The line above tells them, or what they say is shown with another. */
const TOLD_ALREADY: ReadonlySet<EventType> = new Set<EventType>([
  "run.created",
  "run.started",
  "run.resumed",
  "run.cancel_requested",
  "run.paused",
  "run.unpaused",
  "run.held",
  "run.reopened",
  "run.forked",
  "run.completed",
  "run.failed",
  "run.canceled",
  "jobs.ready",
  "jobs.skipped",
  "jobs.canceled",
  "jobs.stopping",
  "job.created",
  "job.released",
  "job.failed",
  "job.reused",
  "job.held",
  "hold.resolved",
  "operator.goto",
  "attempt.started",
  "attempt.succeeded",
  "attempt.failed",
  "attempt.stopped",
  "if.failed",
  "workspace.opened",
  "workspace.moved",
  "workspace.left",
  "human.asked",
  "human.answered",
  "evaluation.requested",
]);

/** Expressions with their results, rungs considered, backoff, transitions and loop counters of one event. */
export function debugLines(run: Run, event: LoggedEvent["event"]): string[] {
  switch (event.type) {
    case "evaluation.finished":
      return [evaluationLine(run, event)];
    case "ladder.climbed":
      return event.considered.map(
        ({ rung, applied, reason }) =>
          `${nameIn(run, event.job)} attempt ${event.attempt}: rung ${rung} ${applied ? "taken" : "passed"}: ${reason}`,
      );
    case "retry.scheduled":
      return [
        `${nameIn(run, event.job)}: backoff ${event.delayMs} ms, due ${iso(event.dueAt)}; max_loops: ${retryLoopText(run, jobById(run, event.job))}`,
      ];
    case "goto.taken":
    case "remediation.finished":
      return [`${event.type}: ${eventText(run, event)}; ${loopCounter(run, event.job)}`];
    default:
      return TOLD_ALREADY.has(event.type) ? [] : [`${event.type}: ${eventText(run, event)}`];
  }
}

function evaluationLine(run: Run, event: Extract<Event, { type: "evaluation.finished" }>): string {
  const { result } = event;
  const code = oneLine(codeOf(jobById(run, event.job), event.purpose));
  const value = result.ok
    ? `gave ${JSON.stringify(result.value)}`
    : `was refused: ${result.code} ${valueText(result.reason)}`;
  return `${nameIn(run, event.job)}: ${event.purpose} ${value} in ${result.durationMs.toFixed(1)} ms: ${valueText(code)}`;
}

function nameIn(run: Run, id: number): string {
  return jobName(jobById(run, id));
}

function loopCounter(run: Run, id: number): string {
  const { scope } = jobById(run, id);
  return `${loopText(scope.loops, run)} of ${scope.id}`;
}
