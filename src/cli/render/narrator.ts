import { describeUsedUp } from "../../core/decide/loop-budget.js";
import type { Event, LoggedEvent, RungConsidered } from "../../core/model/events.js";
import type { Failure } from "../../core/model/failure.js";
import { jobById, type Run } from "../../core/model/run.js";
import { durationText } from "../../report/duration-text.js";
import { jobName, jobNames } from "../../report/lookup/job-name.js";
import { gotoText, loopText } from "../../report/loop-text.js";
import { tellingReasons } from "../../report/telling-reasons.js";
import type { CommandLine } from "../declare/command-words.js";
import { healNote, requeueText, resetText } from "./heal-note.js";
import type { NewNote, Note } from "./note.js";
import { operatorNote } from "./operator-note.js";
import { plainNote, short } from "./plain-note.js";

interface OpenFailure {
  readonly error: Failure;
  considered: readonly RungConsidered[];
}

/**
 * Turns a run's events into lines. A failure and what the ladder does about it are several events; they become one
 * line that says what happened, what was tried and what comes next.
 */
export class Narrator {
  private readonly failures = new Map<number, OpenFailure>();
  /** The last failure of each job that was told in full. */
  private readonly told = new Map<number, Failure>();

  constructor(private readonly commandLine: CommandLine = (command) => `daruma ${command}`) {}

  tell(run: Run, { at, event }: LoggedEvent): Note[] {
    const note = this.noteOf(run, event);
    if (note === null) return [];
    const isChild = run.parent !== null && !note.text.startsWith(`run ${run.id} `);
    return [{ ...note, text: isChild ? `run ${run.id}: ${note.text}` : note.text, at }];
  }

  private noteOf(run: Run, event: Event): NewNote | null {
    switch (event.type) {
      case "attempt.failed":
      case "if.failed":
        this.failures.set(event.job, { error: event.error, considered: [] });
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
        return loopExceeded(run, event);
      case "job.failed":
        return this.jobFailed(run, event);
      case "jobs.canceled":
        return this.jobsCanceled(run, event);
      case "rule.reserved":
        return this.failed(run, event.job, ruleText(event));
      case "reset.reserved":
        return (
          (event.trigger === "no_progress" ? this.failed(run, event.job, resetText(event)) : null) ??
          healNote(run, event)
        );
      case "requeue.scheduled":
        return this.failed(run, event.job, requeueText(event)) ?? healNote(run, event);
      case "edge.taken":
        return event.on === "failure"
          ? this.failed(run, event.job, edgeText(run, event))
          : plainNote(run, event);
      case "job.held":
        return this.held(run, event);
      default:
        return operatorNote(run, event, this.commandLine) ?? plainNote(run, event);
    }
  }

  private update(job: number, edit: (failure: OpenFailure) => void): void {
    const failure = this.failures.get(job);
    if (failure !== undefined) edit(failure);
  }

  /** The line for a failure that is now answered, or null if there is none. */
  private failed(run: Run, jobId: number, next: string): NewNote | null {
    const failure = this.failures.get(jobId);
    if (failure === undefined) return null;
    this.failures.delete(jobId);
    const refusals = tellingReasons(failure.considered);
    const tried = refusals.length === 0 ? "" : `${refusals.join("; ")}; `;
    const name = jobName(jobById(run, jobId));
    const text = `${name} ${this.whatFailed(jobId, failure.error)} — ${tried}${next}`;
    return { kind: "failed", text };
  }

  /** The same failure again needs no words of its own. */
  private whatFailed(jobId: number, error: Failure): string {
    const { attempt, code, class: failureClass, message, signature } = error;
    const before = this.told.get(jobId);
    const isSame = before?.signature === signature && before.code === code && before.class === failureClass;
    if (attempt !== null && isSame)
      return `attempt ${attempt} failed like attempt ${before.attempt} (${code})`;
    this.told.set(jobId, error);
    const what = attempt === null ? "did not start" : `attempt ${attempt} failed`;
    return `${what}: ${short(message)} (${code}, ${failureClass})`;
  }

  private gotoTaken(run: Run, event: Extract<Event, { type: "goto.taken" }>): NewNote | null {
    const loops = gotoText(event, run);
    if (event.trigger === "failure") return this.failed(run, event.job, `back to ${event.to} (${loops})`);
    return {
      kind: "route",
      text: `${jobName(jobById(run, event.job))} completed: back to ${event.to} (on_success, ${loops})`,
    };
  }

  private held(run: Run, event: Extract<Event, { type: "job.held" }>): NewNote {
    const told = this.failed(
      run,
      event.job,
      `held until somebody decides: ${this.commandLine(`holds ${run.id}`)}`,
    );
    const text =
      told?.text ?? `${jobName(jobById(run, event.job))} is held: ${short(event.message)} (${event.code})`;
    return { kind: "held", text };
  }

  private jobFailed(run: Run, event: Extract<Event, { type: "job.failed" }>): NewNote | null {
    // The transition that takes the failure on follows at once, and tells both.
    if (event.routed) return null;
    const goesOn = event.handled === null ? "" : "; the run goes on (continue_on_failure)";
    const code = event.code === this.failures.get(event.job)?.error.code ? "" : ` (${event.code})`;
    const told = this.failed(run, event.job, `the step failed${code}${goesOn}`);
    if (told !== null) return told;
    const name = jobName(jobById(run, event.job));
    return { kind: "failed", text: `${name} failed: ${short(event.message)} (${event.code})${goesOn}` };
  }

  /** A failure that came after its run was canceled ends here too. */
  private jobsCanceled(run: Run, event: Extract<Event, { type: "jobs.canceled" }>): NewNote {
    const told =
      event.jobs.length === 1
        ? this.failed(run, event.jobs[0]!, `${event.reason}; nothing more is done`)
        : null;
    return (
      told ?? { kind: "canceled", text: `canceled: ${jobNames(run, event.jobs)} (${short(event.reason)})` }
    );
  }
}

/** Of a success; after a failure the line of the failure tells it. */
function loopExceeded(run: Run, event: Extract<Event, { type: "loop.exceeded" }>): NewNote | null {
  const { transition, count: loops, max } = event;
  if (!transition.startsWith("on_success")) return null;
  const why = describeUsedUp(transition, { retries: 0, loops, max });
  const name = jobName(jobById(run, event.job));
  return { kind: "failed", text: `${name}: its ${transition} is not taken: ${why} (LOOP_BUDGET_EXCEEDED)` };
}

function ruleText({ handler, rule, maxAttempts, script }: Extract<Event, { type: "rule.reserved" }>): string {
  const when = script === null ? "at once" : "after its recovery script";
  return `rule ${rule} of ${handler}: again ${when}, ${maxAttempts} attempts in all`;
}

function edgeText(run: Run, { to, edge, status, loop }: Extract<Event, { type: "edge.taken" }>): string {
  const cost = loop == null ? "" : `, ${loopText(loop, run)}`;
  return status === "selected"
    ? `on to ${to} with the failure (transition ${edge}${cost})`
    : `on to ${to}, which is under way already (transition ${edge})`;
}
