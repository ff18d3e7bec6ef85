import type { Event, LoggedEvent, RungConsidered } from "../../core/events.js";
import type { Failure } from "../../core/failure.js";
import { jobById, type Run } from "../../core/run.js";
import { durationText } from "../../operations/duration-text.js";
import { jobName, jobNames, listNames } from "../../operations/job-name.js";
import { oneLine } from "../../operations/one-line.js";
import { tellingReasons } from "../../operations/telling-reasons.js";

export type NoteKind =
  | "run"
  | "started"
  | "completed"
  | "recovered"
  | "failed"
  | "route"
  | "skipped"
  | "canceled";

/** One thing worth a line. */
export interface Note {
  readonly kind: NoteKind;
  readonly at: number;
  readonly text: string;
}

interface OpenFailure {
  readonly attempt: number;
  readonly error: Failure;
  readonly durationMs: number;
  considered: readonly RungConsidered[];
  loopLimit: number | null;
}

const MAX_MESSAGE_CHARS = 300;
/** Skips that say nothing new: what was never selected is counted in the summary. */
const SILENT_SKIP = /^(?:nothing routed to it|only .* was asked for)$/;

/**
 * Turns a run's events into lines. A failure and what the ladder does about it are several events; they become one
 * line that says what happened, what was tried and what comes next.
 */
export class Narrator {
  private readonly failures = new Map<number, OpenFailure>();

  tell(run: Run, { at, event }: LoggedEvent): Note[] {
    const note = this.noteOf(run, event);
    return note === null ? [] : [{ ...note, at }];
  }

  private noteOf(run: Run, event: Event): Omit<Note, "at"> | null {
    switch (event.type) {
      case "attempt.failed":
        this.failures.set(event.job, { ...event, considered: [], loopLimit: null });
        return null;
      case "ladder.climbed":
        this.update(event.job, (failure) => {
          failure.considered = event.considered;
        });
        return null;
      case "retry.scheduled": {
        const when = event.delayMs === 0 ? "at once" : `in ${durationText(event.delayMs)}`;
        return this.failed(run, event.job, `retry ${event.retry} of ${event.max} ${when}`);
      }
      case "restart.granted":
        return this.failed(run, event.job, `restart ${event.recovery} of ${event.limit} at once`);
      case "remediation.started":
        return this.failed(run, event.job, `run ${event.steps.join(", ")}, then once more`);
      case "goto.taken":
        return this.gotoTaken(run, event);
      case "loop.exceeded":
        return this.loopExceeded(run, event);
      case "job.failed":
        return this.jobFailed(run, event);
      case "jobs.canceled":
        return this.jobsCanceled(run, event);
      default:
        return plainNote(run, event);
    }
  }

  private update(job: number, edit: (failure: OpenFailure) => void): void {
    const failure = this.failures.get(job);
    if (failure !== undefined) edit(failure);
  }

  /** The line for a failure that is now answered, or null if there is none. */
  private failed(run: Run, jobId: number, next: string): Omit<Note, "at"> | null {
    const failure = this.failures.get(jobId);
    if (failure === undefined) return null;
    this.failures.delete(jobId);
    const { code, class: failureClass, message } = failure.error;
    const refusals = tellingReasons(failure.considered);
    const tried = refusals.length === 0 ? "" : `${refusals.join("; ")}; `;
    const name = jobName(jobById(run, jobId));
    return {
      kind: "failed",
      text: `${name} attempt ${failure.attempt} failed: ${short(message)} (${code}, ${failureClass}) — ${tried}${next}`,
    };
  }

  private gotoTaken(run: Run, event: Extract<Event, { type: "goto.taken" }>): Omit<Note, "at"> | null {
    const loops = `loop ${event.loop} of ${run.maxLoops}`;
    if (event.trigger === "failure") return this.failed(run, event.job, `back to ${event.to} (${loops})`);
    return {
      kind: "route",
      text: `${jobName(jobById(run, event.job))} completed: back to ${event.to} (on_success, ${loops})`,
    };
  }

  private loopExceeded(run: Run, event: Extract<Event, { type: "loop.exceeded" }>): Omit<Note, "at"> | null {
    this.update(event.job, (failure) => {
      failure.loopLimit = event.max;
    });
    if (event.transition !== "on_success.goto") return null;
    const name = jobName(jobById(run, event.job));
    return {
      kind: "failed",
      text: `${name}: its on_success goto would pass max_loops ${event.max} (LOOP_BUDGET_EXCEEDED)`,
    };
  }

  private jobFailed(run: Run, event: Extract<Event, { type: "job.failed" }>): Omit<Note, "at"> {
    const goesOn = event.handled === null ? "" : "; the run goes on (continue_on_failure)";
    const limit = this.failures.get(event.job)?.loopLimit ?? null;
    const verdict =
      limit === null
        ? "the step failed"
        : `max_loops ${limit} is used up, the step failed (LOOP_BUDGET_EXCEEDED)`;
    const told = this.failed(run, event.job, `${verdict}${goesOn}`);
    if (told !== null) return told;
    const name = jobName(jobById(run, event.job));
    return { kind: "failed", text: `${name} failed: ${short(event.message)} (${event.code})${goesOn}` };
  }

  /** A failure that came after its run was canceled ends here too. */
  private jobsCanceled(run: Run, event: Extract<Event, { type: "jobs.canceled" }>): Omit<Note, "at"> {
    const told =
      event.jobs.length === 1
        ? this.failed(run, event.jobs[0]!, `${event.reason}; nothing more is done`)
        : null;
    return (
      told ?? { kind: "canceled", text: `canceled: ${jobNames(run, event.jobs)} (${short(event.reason)})` }
    );
  }
}

/** Events that are a line by themselves. */
function plainNote(run: Run, event: Event): Omit<Note, "at"> | null {
  const name = (id: number): string => jobName(jobById(run, id));
  switch (event.type) {
    case "run.started":
      return { kind: "run", text: `run ${run.id} of ${run.workflow} started` };
    case "run.resumed":
      return { kind: "run", text: resumedText(run, event) };
    case "run.cancel_requested":
      return { kind: "canceled", text: `cancel requested: ${short(event.reason)}` };
    case "attempt.started":
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
      return event.ok ? { kind: "route", text: `${name(event.job)} is repaired and runs once more` } : null;
    case "follow_up.started":
      return {
        kind: "route",
        text: `${name(event.job)} completed: run ${event.steps.join(", ")} (on_success)`,
      };
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

function resumedText(run: Run, { lost }: Extract<Event, { type: "run.resumed" }>): string {
  const lostText =
    lost.length === 0
      ? "nothing was running"
      : `lost: ${listNames(lost, ({ job }) => jobName(jobById(run, job)))}`;
  return `run ${run.id} of ${run.workflow} resumed; ${lostText}`;
}

function abandonedText(run: Run, event: Extract<Event, { type: "scope.abandoned" }>): string {
  const jobs = [...event.canceled, ...event.stopping];
  const where = event.scope === "root" ? "" : ` in ${event.scope}`;
  const names = jobs.length === 0 ? "nothing was left to run" : `given up${where}: ${jobNames(run, jobs)}`;
  return `${names} (${event.code})`;
}

function joinNote(name: string, event: Extract<Event, { type: "join.decided" }>): Omit<Note, "at"> | null {
  const { completed, failed, skipped } = event;
  if (event.satisfied && failed === 0) return null;
  const verdict = event.satisfied ? "its join is satisfied" : "its join is not satisfied";
  return {
    kind: "route",
    text: `${name}: of ${completed + failed + skipped} branches ${completed} completed, ${failed} failed; ${verdict}`,
  };
}

function short(message: string): string {
  return oneLine(message, MAX_MESSAGE_CHARS);
}
