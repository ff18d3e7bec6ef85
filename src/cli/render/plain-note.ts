import type { Event } from "../../core/model/events.js";
import { jobById, type Run } from "../../core/model/run.js";
import { oneLine } from "../../core/text/plain-text.js";
import { HUMAN } from "../../engine/human-step.js";
import { durationText } from "../../report/duration-text.js";
import { jobName, jobNames, listNames } from "../../report/lookup/job-name.js";
import { loopText } from "../../report/loop-text.js";
import { healNote } from "./heal-note.js";
import type { NewNote } from "./note.js";

const MAX_MESSAGE_CHARS = 300;
/** Skips that say nothing new: what was never selected is counted in the summary. */
const SILENT_SKIP = /^(?:nothing routed to it|only .* was asked for)$/;

/** Events that are a line by themselves. */
export function plainNote(run: Run, event: Event): NewNote | null {
  const name = (id: number): string => jobName(jobById(run, id));
  switch (event.type) {
    case "run.started":
      return { kind: "run", text: `run ${run.id} of ${run.workflow} started` };
    case "run.resumed":
      return { kind: "run", text: resumedText(run, event) };
    case "run.cancel_requested":
      return { kind: "canceled", text: `cancel requested: ${short(event.reason)}` };
    case "attempt.started":
      if (event.worker === HUMAN) return null;
      return {
        kind: "started",
        text: `${name(event.job)} started${event.attempt > 1 ? `, attempt ${event.attempt}` : ""}`,
      };
    case "attempt.succeeded": {
      const again = event.attempt > 1;
      const attempt = again ? ` on attempt ${event.attempt}` : "";
      return {
        kind: again ? "recovered" : "completed",
        text: `${name(event.job)} completed${attempt} in ${durationText(event.durationMs)}`,
      };
    }
    case "attempt.stopped":
      return {
        kind: "canceled",
        text: `${name(event.job)} attempt ${event.attempt} stopped (${event.because})`,
      };
    case "remediation.finished":
      return event.ok ? { kind: "route", text: repairedText(run, event) } : null;
    case "follow_up.started":
      return {
        kind: "route",
        text: `${name(event.job)} completed: run ${event.steps.join(", ")} (on_success)`,
      };
    case "edge.taken":
      return {
        kind: "route",
        text: `${name(event.job)} completed: on to ${event.to} (transition ${event.edge}${event.loop == null ? "" : `, ${loopText(event.loop, run)}`})`,
      };
    case "recovery.started":
      return recoveryStarted(name(event.job), event);
    case "recovery.interrupted":
      return { kind: "canceled", text: `${name(event.job)}: its recovery script was interrupted` };
    case "recovery.finished":
      return recoveryFinished(name(event.job), event);
    case "workspace.opened":
    case "workspace.moved":
    case "workspace.left":
    case "rebuild.started":
    case "rebuild.finished":
    case "set_aside.started":
    case "set_aside.finished":
    case "workspace.promoted":
    case "workspace.discarded":
      return healNote(run, event);
    case "routes.settled":
      return settledNote(run, event);
    case "scopes.opened":
      return { kind: "started", text: `${name(event.job)} opened ${event.items.length} branches` };
    case "scope.abandoned":
      return { kind: "canceled", text: abandonedText(run, event) };
    case "join.decided":
      return joinNote(name(event.job), event);
    case "jobs.skipped":
      return SILENT_SKIP.test(event.reason)
        ? null
        : { kind: "skipped", text: `skipped: ${jobNames(run, event.jobs)} (${event.reason})` };
    default:
      return null;
  }
}

function repairedText(run: Run, { job, loop }: Extract<Event, { type: "remediation.finished" }>): string {
  const cost = loop == null ? "" : ` (${loopText(loop, run)})`;
  return `${jobName(jobById(run, job))} is repaired and runs once more${cost}`;
}

function recoveryStarted(name: string, event: Extract<Event, { type: "recovery.started" }>): NewNote {
  const again = event.try > 1 ? `, once more after a lost engine (${event.try})` : "";
  return { kind: "started", text: `${name}: its recovery script started${again}` };
}

function recoveryFinished(name: string, event: Extract<Event, { type: "recovery.finished" }>): NewNote {
  const took = `after ${durationText(event.durationMs)}`;
  if (event.ok) return { kind: "route", text: `${name}: its recovery script completed ${took}` };
  const why = `${short(event.message)}`;
  return {
    kind: "failed",
    text: `${name}: its recovery script failed ${took}: ${why}; the retry happens all the same`,
  };
}

function settledNote(run: Run, event: Extract<Event, { type: "routes.settled" }>): NewNote | null {
  const { handled, unhandled } = event;
  if (unhandled.length > 0)
    return {
      kind: "failed",
      text: `not handled, where it was routed to did not complete: ${jobNames(run, unhandled)}`,
    };
  return handled.length === 0
    ? null
    : { kind: "recovered", text: `handled by the steps it was routed to: ${jobNames(run, handled)}` };
}

function resumedText(run: Run, { lost }: Extract<Event, { type: "run.resumed" }>): string {
  const lostText =
    lost.length === 0
      ? "nothing was lost"
      : `lost: ${listNames(lost, ({ job }) => jobName(jobById(run, job)))}`;
  return `run ${run.id} of ${run.workflow} resumed; ${lostText}`;
}

function abandonedText(run: Run, event: Extract<Event, { type: "scope.abandoned" }>): string {
  const jobs = [...event.canceled, ...event.stopping];
  const where = event.scope === "root" ? "" : ` in ${event.scope}`;
  const names = jobs.length === 0 ? "nothing was left to run" : `given up${where}: ${jobNames(run, jobs)}`;
  return `${names} (${event.code})`;
}

function joinNote(name: string, event: Extract<Event, { type: "join.decided" }>): NewNote | null {
  const { completed, failed, skipped } = event;
  if (event.satisfied && failed === 0) return null;
  const verdict = event.satisfied ? "its join is satisfied" : "its join is not satisfied";
  return {
    kind: "route",
    text: `${name}: of ${completed + failed + skipped} branches ${completed} completed, ${failed} failed; ${verdict}`,
  };
}

export function short(message: string): string {
  return oneLine(message, MAX_MESSAGE_CHARS);
}
