import { describeUsedUp, isAfterSuccess, loopCount } from "../../core/decide/loop-budget.js";
import { repairsInVisit } from "../../core/model/definition.js";
import type { EventOf } from "../../core/model/events.js";
import { wayOf } from "../../core/model/handled.js";
import { amountText, raiseText } from "../../core/model/resources.js";
import { type Job, jobById, type Run } from "../../core/model/run.js";
import { expiryOf } from "../../core/notices/expiry.js";
import { counted } from "../../core/text/amount-text.js";
import { iso } from "../../core/text/iso-time.js";
import { jobNames } from "../lookup/job-name.js";
import { durationText, endedText } from "./duration-text.js";
import { eventText } from "./event-text.js";
import { type Jump, nameIn, quote, short, steered, type Told, told, type WordsOf } from "./event-words.js";
import { untilText } from "./expiry-text.js";
import { gotoText, inScope, loopsOf, loopText, retryLoopText } from "./loop-text.js";
import { type NewNote, note } from "./note.js";
import { cost, fact } from "./sentence.js";

type LadderEvents =
  | "restart.granted"
  | "rule.reserved"
  | "recovery.started"
  | "recovery.interrupted"
  | "recovery.finished"
  | "retry.scheduled"
  | "remediation.started"
  | "remediation.finished"
  | "follow_up.started"
  | "follow_up.finished"
  | "goto.taken"
  | "barrier.opened"
  | "barrier.closed"
  | "visit.requested"
  | "visit.entered"
  | "visit.left"
  | "loop.exceeded"
  | "edge.taken"
  | "job.stood_in"
  | "routes.settled"
  | "job.held";

/** What the rungs do about failures, and what follows a success. */
export const LADDER_WORDS: WordsOf<LadderEvents> = {
  "restart.granted": {
    answer: ({ recovery, limit }) => `restart ${recovery} of ${limit} at once`,
    story: ({ job, recovery, limit }) =>
      told(job, cost(`restart ${recovery} of ${limit} of this visit; no retry, no loop`)),
    debug: true,
  },
  "rule.reserved": {
    answer({ handler, rule, max_attempts: maxAttempts, script, raised }) {
      const when = script === null ? "at once" : "after its recovery script";
      const more = raised === undefined ? "" : `, ${raiseText(raised)}`;
      return `rule ${rule} of ${handler}: run it again ${when}${more}, at most ${counted(maxAttempts, "attempt")}`;
    },
    story: ({ job, max_attempts: maxAttempts, raised }, run) =>
      told(
        job,
        ...(raised === undefined
          ? []
          : [
              fact(
                `From now on the step may use ${amountText(raised.resource, raised.to)} of ${raised.resource}.`,
              ),
            ]),
        cost(`attempt ${jobById(run, job).charged + 1} of ${maxAttempts}; no retry, no loop`),
      ),
    debug: true,
  },
  "recovery.started": {
    note: (event, run) => note("started", `${nameIn(run, event.job)}: ${scriptStarted(event)}`),
    story: (event) => told(event.job, fact(`The ${scriptStarted(event)}.`)),
    debug: true,
  },
  "recovery.interrupted": {
    note: ({ job }, run) => note("canceled", `${nameIn(run, job)}: recovery script interrupted`),
    story: ({ job }) =>
      told(
        job,
        fact("The recovery script was interrupted when Daruma was stopped; it runs again, at no cost."),
      ),
    debug: true,
  },
  "recovery.finished": {
    note: (event, run) =>
      note(event.ok ? "route" : "failed", `${nameIn(run, event.job)}: ${scriptFinished(event)}`),
    story: (event) => told(event.job, fact(`The ${scriptFinished(event)}.`)),
    debug: true,
  },
  "retry.scheduled": {
    answer: ({ retry, max, delay_ms: delayMs }) =>
      `retry ${retry} of ${max} ${delayMs === 0 ? "at once" : `in ${durationText(delayMs)}`}`,
    story({ job, retry, max, delay_ms: delayMs }, run) {
      const loops = retryLoopText(run, jobById(run, job));
      const waiting = `${durationText(delayMs)} of waiting`;
      return told(job, cost(`retry ${retry} of ${max} of this visit and ${waiting}; max_loops: ${loops}`));
    },
    debug: ({ job, delay_ms: delayMs, due_at: dueAt }, run) => [
      `${nameIn(run, job)}: backoff ${delayMs} ms, due ${iso(dueAt)}; max_loops: ${retryLoopText(run, jobById(run, job))}`,
    ],
  },
  "remediation.started": {
    answer: ({ steps }) => `run ${steps.join(", ")}, then try again`,
    debug: true,
  },
  "remediation.finished": {
    note({ job, ok, loop }, run) {
      if (!ok) return null;
      const loops = loop == null ? "" : ` (${loopText(loop, run)})`;
      return note("route", `${nameIn(run, job)}: remediation completed, the step runs again${loops}`);
    },
    story: ({ job, ok, failed_step: failedStep }, run) =>
      ok
        ? told(
            job,
            fact("Remediation completed, so the step runs again."),
            cost(`${repairOf(jobById(run, job))} and ${loopsOf(run, job)}`),
          )
        : told(job, fact(`Remediation failed: ${failedStep} did not complete.`)),
    debug: (event, run) => [debugWithLoops(run, event)],
  },
  "follow_up.started": {
    note: ({ job, steps }, run) =>
      note("route", `${nameIn(run, job)} completed: run ${steps.join(", ")} (on_success)`),
    story: ({ job, steps }) => told(job, fact(`on_success runs ${steps.join(", then ")}.`)),
    debug: true,
  },
  "follow_up.finished": {
    story: ({ job, ok, failed_step: failedStep }) =>
      ok ? [] : told(job, fact(`on_success stopped: ${failedStep} did not complete.`)),
    debug: true,
  },
  "goto.taken": {
    answer: (event, run) =>
      event.trigger === "failure" ? `back to ${event.to} (${gotoText(event, run)})` : null,
    note: (event, run) =>
      note(
        "route",
        event.trigger === "failure"
          ? `${nameIn(run, event.job)}: back to ${event.to} (${gotoText(event, run)})`
          : `${nameIn(run, event.job)} completed: back to ${event.to} (on_success, ${gotoText(event, run)})`,
      ),
    story: (event, run) =>
      told(
        event.job,
        // After a failure its rung has said so.
        ...(event.trigger === "failure"
          ? []
          : [fact(`on_success goes back to ${event.to} (${event.reason}).`)]),
        cost(`${gotoText(event, run)}${inScope(jobById(run, event.job).scope)}`),
      ),
    debug: (event, run) => [debugWithLoops(run, event)],
  },
  "barrier.opened": { debug: true },
  "barrier.closed": {
    story: ({ barrier, invalidated }, run, before) =>
      invalidated
        .filter((id) => before.isTold(id))
        .flatMap((id) =>
          told(id, fact(`Visit ${jobById(run, id).visit} began (${jumpText(run, before.jumpOf(barrier))}).`)),
        ),
    debug: true,
  },
  "visit.requested": { debug: true },
  "visit.entered": {
    story: ({ job, visit, by, role }, run) =>
      told(job, fact(`Visit ${visit} began (${role} of ${nameIn(run, by)}).`)),
    debug: true,
  },
  "visit.left": { debug: true },
  "loop.exceeded": {
    // After a failure the line of the failure tells it.
    note({ job, transition, count: loops, max }, run) {
      if (!isAfterSuccess(transition)) return null;
      const why = describeUsedUp(transition, { retries: 0, loops, max });
      const text = `${nameIn(run, job)}: ${transition} is not taken: ${why} (LOOP_BUDGET_EXCEEDED)`;
      return note("failed", text);
    },
    story: (event, run) => told(event.job, fact(exceededText(run, event))),
    debug: true,
  },
  "edge.taken": {
    answer: (event, run) => (event.on === "failure" ? edgeText(run, event) : null),
    note: (event, run) =>
      event.on === "failure"
        ? null
        : note("route", `${nameIn(run, event.job)} completed: ${edgeText(run, event)}`),
    story: edgeStory,
    debug: true,
  },
  "routes.settled": {
    note: settledNote,
    story: ({ handled, unhandled }, run) => [
      ...handled.flatMap((id) =>
        steered(id, fact("The failure is handled: the step it was routed to completed.")),
      ),
      ...unhandled.flatMap((id) => steered(id, fact(`The failure is not handled: ${notHandled(run, id)}.`))),
    ],
    debug: true,
  },
  "job.stood_in": {
    note: ({ job, by }, run) =>
      note("recovered", `${nameIn(run, job)}: ${nameIn(run, by)} stands in for it, its dependents go on`),
    story: ({ job, by }, run) =>
      steered(job, fact(`${nameIn(run, by)} stands in for it: its dependents go on with that output.`)),
    debug: true,
  },
  "job.held": {
    answer: (event, run, { type }) => `held ${untilDecided(event)}: ${type(`holds ${run.id}`)}`,
    answerKind: "held",
    note: (event, run) => {
      const { job, code, message } = event;
      const expiry = expiryOf(event);
      const held = `${nameIn(run, job)} is held: ${short(message)} (${code})`;
      return note("held", expiry === null ? held : `${held}, ${untilText(expiry)}`);
    },
    story: (event) =>
      steered(
        event.job,
        fact(`The step was held ${untilDecided(event, "a decision")}; what depends on it had to wait.`),
      ),
  },
};

/** `until somebody decides or until 2026-03-01T12:00:00.000Z, then fail`. */
function untilDecided(event: EventOf<"job.held">, decided = "somebody decides"): string {
  const expiry = expiryOf(event);
  return `until ${decided}${expiry === null ? "" : ` or ${untilText(expiry)}`}`;
}

function scriptStarted({ try: tries }: EventOf<"recovery.started">): string {
  return tries === 1
    ? "recovery script started"
    : `recovery script started again (try ${tries}): its engine was lost`;
}

function scriptFinished({ ok, duration_ms: durationMs, message }: EventOf<"recovery.finished">): string {
  return ok
    ? `recovery script ${endedText("completed", durationMs)}`
    : `recovery script ${endedText("failed", durationMs)}: ${quote(message)}; the step runs again anyway`;
}

/** What began a new visit: `goto from test`. */
function jumpText(run: Run, jump: Jump | null): string {
  switch (jump?.type) {
    case "goto.taken":
      return `goto from ${nameIn(run, jump.job)}`;
    case "edge.taken":
      return `transition from ${nameIn(run, jump.job)}`;
    case "operator.goto":
      return "by hand";
    case undefined:
      return "goto";
  }
}

function exceededText(run: Run, event: EventOf<"loop.exceeded">): string {
  const { transition, scope } = event;
  const end = `Everything unfinished in ${scope} was canceled.`;
  // After a failure its rungs, or its last word, say why.
  if (!isAfterSuccess(transition)) return end;
  const count = loopCount(run, jobById(run, event.job), transition);
  return `${transition} was not taken: ${describeUsedUp(transition, count)}. ${end}`;
}

/** `transition 1 takes the failure to fix, loop 2 of 10`. */
function edgeText(run: Run, { to, edge, on, status, loop }: EventOf<"edge.taken">): string {
  const way = on === "failure" && status === "selected" ? `takes the failure to ${to}` : `leads to ${to}`;
  const when = status === "selected" ? "" : ", which has already started";
  return `transition ${edge} ${way}${when}${loop == null ? "" : ` (${loopText(loop, run)})`}`;
}

/** The text for both the step that it leaves and the one that it leads to. */
function edgeStory(event: EventOf<"edge.taken">, run: Run): Told[] {
  const { job, target, edge, to, on, status, counted } = event;
  const from = nameIn(run, job);
  const isSelected = status === "selected";
  const came = on === "failure" ? `brought the failure of ${from} here` : `led here after ${from} completed`;
  return [
    ...steered(
      job,
      // After a failure its rung has said so.
      ...(on === "failure"
        ? []
        : [fact(`Transition ${edge} leads to ${to}${isSelected ? "" : ", which has already started"}.`)]),
      cost(counted ? loopsOf(run, job) : "nothing"),
    ),
    ...steered(
      target,
      fact(`Transition ${edge} ${came}${isSelected ? "" : " while it was already running"}.`),
    ),
  ];
}

function settledNote({ handled, unhandled }: EventOf<"routes.settled">, run: Run): NewNote | null {
  if (unhandled.length > 0)
    return note("failed", `${jobNames(run, unhandled)}: not handled, ${notHandled(run, unhandled[0]!)}`);
  return handled.length === 0
    ? null
    : note("recovered", `${jobNames(run, handled)}: handled by the step it was routed to`);
}

function notHandled(run: Run, job: number): string {
  return wayOf(jobById(run, job))?.then === "fail"
    ? "its transition says `then: fail`"
    : "the step it was routed to did not complete";
}

/** `repair 1 of 3 of this visit`. */
function repairOf({ step, remediationsInVisit }: Job): string {
  return `repair ${remediationsInVisit} of ${repairsInVisit(step.definition.onFail)} of this visit`;
}

function debugWithLoops(run: Run, event: EventOf<"goto.taken" | "remediation.finished">): string {
  return `${event.type}: ${eventText(run, event)}; ${loopsOf(run, event.job)}`;
}
